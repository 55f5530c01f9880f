package holdfast

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/batch"
)

// undo takes a claim back in the background, until the backend answers or the claim must have expired. It is for claims
// whose request may have been applied, and for those that nobody wants any more. The claim has its token if that is
// known: without one its ID is barred, too, for a request that is still on its way.
func (c *Client) undo(claim driver.Claim) { c.undoAndTell(claim, 0, func(error) {}) }

// undoAndTell is undo where somebody wants to know what the backend said: nil, driver.ErrGone, or why that is not
// known. The claim lives until deadline at least, unless it is released or broken. told must not block.
func (c *Client) undoAndTell(claim driver.Claim, deadline instant, told func(error)) {
	c.background.enter() // Close waits for it
	c.undoer.add(undo{claim: claim, until: now().add(claim.TTL), deadline: deadline, told: told})
}

// An undo is a claim to be taken back. That is of no use any more after until: the claim has expired by then.
type undo struct {
	claim    driver.Claim
	until    instant
	deadline instant // see undoAndTell
	told     func(error)
	try      driver.Try   // of the next attempt
	ahead    *claimsAhead // nil once an attempt has ended, whatever came of it
}

// An undoer takes back what a client no longer wants. It sends many releases at a time while the backend answers, and
// one at a time, with pauses, while it does not, however much there is to do.
type undoer struct {
	client *Client

	mu       sync.Mutex
	queue    []undo // not under way
	underWay int
	width    int // so many may be under way
	pace     driver.Backoff
	pause    *time.Timer // after a failure, until the next attempt; nil: there is none
	failure  error       // of the last attempt; nil if that was answered
	ahead    ahead
}

// undoesAtOnce bounds how many releases an undoer has under way.
const undoesAtOnce = 16

func newUndoer(c *Client) *undoer { return &undoer{client: c, width: undoesAtOnce, pace: newPace()} }

func (u *undoer) add(next undo) {
	u.mu.Lock()
	next.ahead = u.ahead.add(next.claim.Name, next.claim.TTL)
	u.queue = append(u.queue, next)
	u.unlockAndSend()
}

// unlockAndSend releases u.mu, and sends what may be sent now.
func (u *undoer) unlockAndSend() {
	n := 0
	if u.pause == nil {
		n = min(len(u.queue), max(u.width-u.underWay, 0))
	}
	next := u.queue[:n:n]
	u.queue = u.queue[n:]
	u.underWay += n
	u.mu.Unlock()
	for _, x := range next {
		ops := []driver.Op{{Kind: driver.OpRelease, Claim: x.claim, Try: x.try}}
		u.client.sender.Go(u.client.lifetime, ops, attemptLimit(x.claim.TTL), func(_ int, a batch.Answer) {
			u.answered(x, releasedBefore(x.try, x.deadline, u.client.rescuedFrom(a.Err)))
		})
	}
}

// answered notes what came of an attempt.
func (u *undoer) answered(x undo, err error) {
	final := isFinal(err)
	if final {
		u.over(x, err)
	}
	u.mu.Lock()
	u.underWay--
	u.noteTried(&x)
	if final {
		u.settled()
	} else {
		u.failed(x, err)
	}
	u.unlockAndSend()
}

// settled counts an answer: where one claim is answered about, more can be. u.mu is held.
func (u *undoer) settled() {
	u.failure = nil
	u.width = min(2*u.width, undoesAtOnce)
	u.pace.Reset()
	u.endPause()
}

// failed puts a claim behind the others, so that one that is never answered keeps none of them waiting. u.mu is held.
func (u *undoer) failed(x undo, err error) {
	u.failure = err
	u.width = 1
	if !isUnsent(err) && !driver.IsAnswer(err) {
		x.try = driver.TryAgain
	}
	u.queue = append(u.queue, x)
	u.dropLate(err)
	if u.pause == nil && len(u.queue) > 0 {
		u.pause = time.AfterFunc(u.pace.Next(), u.goOn)
	}
}

// goOn goes on after a pause.
func (u *undoer) goOn() {
	u.mu.Lock()
	u.endPause()
	u.dropLate(u.failure)
	u.unlockAndSend()
}

func (u *undoer) endPause() {
	if u.pause != nil {
		u.pause.Stop()
		u.pause = nil
	}
}

// stop gives up what is not under way, once the client's lifetime has ended.
func (u *undoer) stop() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.endPause()
	u.dropLate(u.client.lifetime.Err())
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

// release makes one attempt to release a claim, which begins at an instant that has just been read.
func (c *Client) release(ctx context.Context, claim driver.Claim, try driver.Try, at instant) error {
	op := driver.Op{Kind: driver.OpRelease, Claim: claim, Try: try}
	return c.sender.DoAt(ctx, op, attemptLimit(claim.TTL), time.Duration(at)).Err
}

// isFinal reports whether an answer to a release is the last word. A refusal is not: it may be as short as a failover.
func isFinal(err error) bool {
	return driver.IsAnswer(err) && !errors.Is(err, driver.ErrRefused) || errors.Is(err, driver.ErrUnknown)
}

// releasedBefore is what the answer to a release means. An engine that keeps no record of the end of a claim does not
// know how one ended of which nothing is left. Where the claim has not expired yet, and an attempt to release it may
// have been applied, that was the end. Breaking a claim is always on record.
func releasedBefore(try driver.Try, deadline instant, err error) error {
	if try == driver.TryAgain && errors.Is(err, driver.ErrUnknown) && now() < deadline {
		return nil
	}
	return err
}

// giveBack releases a claim, again and again until the backend answers, or until patience, ctx or the client ends. An
// answer is nil, or matches driver.ErrGone, driver.ErrRefused or driver.ErrUnknown. The claim lives until deadline at
// least, unless it is released or broken.
func (c *Client) giveBack(
	ctx context.Context, claim driver.Claim, deadline instant, patience time.Duration,
) error {
	began, pace := now(), newPace()
	var said error // by the server
	var try driver.Try
	for attempts, at := 1, began; ; attempts, at = attempts+1, now() {
		err := releasedBefore(try, deadline, c.release(ctx, claim, try, at))
		if driver.IsAnswer(err) || errors.Is(err, driver.ErrUnknown) {
			return err
		}
		isOver := ctx.Err() != nil || c.lifetime.Err() != nil || now().sub(began) > patience
		if isOver || pace.Pause(ctx) != nil {
			return silence(ctx, attempts, began, after(said, err))
		}
		said = serverError(said, err)
		if !isUnsent(err) {
			try = driver.TryAgain
		}
	}
}
