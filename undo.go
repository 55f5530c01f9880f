package holdfast

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// undo takes a claim back in the background, until the backend answers or the claim must have expired. It is for claims
// whose request may have been applied, and for those that nobody wants any more. The claim has its token if that is
// known: without one its ID is barred, too, for a request that is still on its way.
func (c *Client) undo(claim driver.Claim) { c.undoAndTell(claim, func(error) {}) }

// undoAndTell is undo where somebody wants to know what the backend said: nil, driver.ErrGone, or why that is not
// known. told must not block.
func (c *Client) undoAndTell(claim driver.Claim, told func(error)) {
	c.background.enter() // Close waits for it
	c.undoer.add(undo{claim: claim, until: now().add(claim.TTL), told: told})
}

// An undo is a claim to be taken back. That is of no use any more after until: the claim has expired by then.
type undo struct {
	claim driver.Claim
	until instant
	told  func(error)
	ahead *claimsAhead // nil once an attempt has ended, whatever came of it
}

// An undoer takes back what a client no longer wants: at full width while the backend answers, and with one request
// at a time and pauses while it does not, however much there is to do.
type undoer struct {
	client *Client

	mu      sync.Mutex
	queue   []undo // not in anybody's hands
	workers int
	width   int   // so many workers may be there
	failure error // of the last attempt; nil if that was answered
	ahead   ahead
}

// undoesAtOnce bounds how many releases an undoer has under way.
const undoesAtOnce = 16

func newUndoer(c *Client) *undoer { return &undoer{client: c, width: undoesAtOnce} }

func (u *undoer) add(next undo) {
	u.mu.Lock()
	defer u.mu.Unlock()
	next.ahead = u.ahead.add(next.claim.Name, next.claim.TTL)
	u.queue = append(u.queue, next)
	u.staff()
}

// staff begins one more worker if there is room and work for it. u.mu is held.
func (u *undoer) staff() {
	if len(u.queue) > 0 && u.workers < u.width {
		u.workers++
		go u.work()
	}
}

// work takes claims back until none is left, or others do it alone.
func (u *undoer) work() {
	pace := newPace()
	for next, ok := u.next(); ok; next, ok = u.next() {
		_, err := rescued(u.client, func() (struct{}, error) {
			return struct{}{}, u.client.release(u.client.lifetime, next.claim)
		})
		if isFinal(err) {
			pace.Reset()
			u.settled(next, err)
			continue
		}
		u.failed(next, err)
		pace.Pause(u.client.lifetime) // next looks at it
	}
}

// next takes the oldest claim. It is false for a worker that is not needed any more.
func (u *undoer) next() (next undo, ok bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if err := u.client.lifetime.Err(); err != nil {
		u.dropLate(err)
	}
	if len(u.queue) == 0 || u.workers > u.width {
		u.workers--
		return undo{}, false
	}
	next, u.queue = u.queue[0], u.queue[1:]
	return next, true
}

// settled counts an answer: where one claim is answered about, more can be.
func (u *undoer) settled(x undo, answer error) {
	u.over(x, answer)
	u.mu.Lock()
	defer u.mu.Unlock()
	u.noteTried(&x)
	u.failure = nil
	u.width = min(2*u.width, undoesAtOnce)
	u.staff()
}

// failed puts a claim behind the others, so that one that is never answered keeps none of them waiting.
func (u *undoer) failed(x undo, err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.noteTried(&x)
	u.failure = err
	u.width = 1
	u.queue = append(u.queue, x)
	u.dropLate(err)
}

// lastFailure is why the last attempt to take something back failed; nil if it was answered.
func (u *undoer) lastFailure() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.failure
}

// noteTried notes that an attempt to take a claim back has ended. u.mu is held.
func (u *undoer) noteTried(x *undo) {
	if x.ahead != nil {
		u.ahead.done(x.ahead)
		x.ahead = nil
	}
}

// dropLate gives up what has expired, and everything once the client is gone: the TTL ends what is left. u.mu is held.
func (u *undoer) dropLate(err error) {
	u.queue = slices.DeleteFunc(u.queue, func(x undo) bool {
		late := x.until < now() || u.client.lifetime.Err() != nil
		if late {
			u.noteTried(&x)
			u.over(x, err)
		}
		return late
	})
}

// over says what became of a claim.
func (u *undoer) over(x undo, err error) {
	x.told(err)
	u.client.background.leave()
}

// release makes one attempt to release a claim.
func (c *Client) release(ctx context.Context, claim driver.Claim) error {
	return c.sender.Do(ctx, driver.Op{Kind: driver.OpRelease, Claim: claim}, attemptLimit(claim.TTL)).Err
}

// isFinal reports whether an answer to a release is the last word. A refusal is not: it may be as short as a failover.
func isFinal(err error) bool {
	return driver.IsAnswer(err) && !errors.Is(err, driver.ErrRefused) || errors.Is(err, driver.ErrUnknown)
}

// giveBack releases a claim, again and again until the backend answers, or until patience, ctx or the client ends. An
// answer is nil, or matches driver.ErrGone, driver.ErrRefused or driver.ErrUnknown.
func (c *Client) giveBack(ctx context.Context, claim driver.Claim, patience time.Duration) error {
	began, pace := now(), newPace()
	var said error // by the server
	for attempts := 1; ; attempts++ {
		err := c.release(ctx, claim)
		if driver.IsAnswer(err) || errors.Is(err, driver.ErrUnknown) {
			return err
		}
		isOver := ctx.Err() != nil || c.lifetime.Err() != nil || now().sub(began) > patience
		if isOver || pace.Pause(ctx) != nil {
			return silence(ctx, attempts, began, after(said, err))
		}
		said = serverError(said, err)
	}
}
