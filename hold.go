package holdfast

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// A hold is a granted claim of this client. It serves one grant after the other: several when the gate hands it from
// goroutine to goroutine.
type hold struct {
	tracked
	lock    *lock
	ask     ask
	since   instant     // when we knew of the grant; zero without a minimum hold
	resumed bool        // others may have its claim too
	inVain  atomic.Bool // nobody gets the lock, or has it yet, so there is no minimum hold
	gate    *gate       // where goroutines of this client wait for it, if they do; guarded by gates.mu

	first     grant // most have one grant only: it is here
	mu        sync.Mutex
	current   *grant
	over      bool          // lost or given back: it grants no more
	loss      *loss         // why it was lost; nil if it was not
	contended bool          // others wait behind at the backend
	revoked   bool          // somebody asked us to let go
	asked     chan struct{} // closed then; made when first asked for
	leaving   chan struct{} // it is being detached, so it goes to nobody else; closed when that is over
	setting   int           // so many values may still be set in its name, so it goes to nobody else
	watched   bool          // somebody cares to learn of the claim's end at once
}

// hold makes a hold of a claim that was granted by the answer st to a request sent at this instant, and keeps it.
func (l *lock) hold(a ask, claim driver.Claim, st driver.Status, sent instant) *hold {
	h := l.emptyHold(a, st)
	h.tracked.init(h, claim, st, sent)
	l.client.keeper.add(&h.tracked)
	return h
}

// emptyHold makes a hold without a claim.
func (l *lock) emptyHold(a ask, st driver.Status) *hold {
	h := &hold{lock: l, ask: a, contended: st.Contended, revoked: st.Revoked}
	if l.settings.minHold > 0 {
		h.since = now()
	}
	h.inVain.Store(true) // until its owner has it: see told
	return h
}

// promote makes a hold of a waiting claim that was granted. It is valid for as long as the waiting claim was: a grant
// that was pushed says nothing about that, and need not.
func (l *lock) promote(a ask, waited *tracked, st driver.Status) *hold {
	h := l.emptyHold(a, st)
	h.owner, h.claim, h.index = h, waited.claim, untracked
	h.claim.Token = st.Token
	l.client.keeper.succeed(&h.tracked, waited)
	return h
}

// grant begins a period in which one owner has the lock. count tells the periods of one hold apart.
func (h *hold) grant(l *lock, count int) *grant {
	h.mu.Lock()
	g := &h.first
	if h.current != nil {
		g = new(grant)
	}
	g.hold, g.lock, g.ask, g.token = h, l, h.ask, h.claim.Token<<tokenShift|uint64(count)
	h.current = g
	over := h.over
	h.mu.Unlock()
	if over {
		g.end(h.lostBefore(g))
	}
	g.limitTo(l.settings.maxHold)
	return g
}

// alive reports whether the hold can grant.
func (h *hold) alive() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return !h.over
}

// tokenShift leaves room in the token for the count of local hand-offs.
const tokenShift = 10

// lose ends the hold because the lock is not ours any more. The holder learns it first; then the claim is given back
// under the token that it now has, in case the backend still has it. A resumed one is left to its TTL: whoever else
// resumed it may have renewed it in time.
func (h *hold) lose(reason LostReason, err error) { h.loseUnder(h.claim.Token, reason, err) }

func (h *hold) loseUnder(token uint64, reason LostReason, err error) {
	g, ended := h.endAs(&loss{reason, err})
	if ended && !h.resumed {
		defer h.lock.client.undoer.expect(h.claim.Name, h.claim.TTL)()
	}
	if g != nil { // also where another goroutine has just ended the hold, and is about to tell
		g.lose(reason, err)
	}
	if !ended {
		return
	}
	if claim := h.claim; !h.resumed {
		claim.Token = token
		h.lock.client.undo(claim)
	}
	h.lock.client.gates.left(h)
}

// A loss is why a hold was lost.
type loss struct {
	reason LostReason
	err    error
}

// lostBefore is the error of a grant whose hold somebody else has ended: the reason why it was lost, if it was.
func (h *hold) lostBefore(g *grant) error {
	h.mu.Lock()
	l := h.loss
	h.mu.Unlock()
	if l != nil {
		return g.lost(l.reason, l.err)
	}
	return g.lost(LostExpired, h.whyExpired())
}

// whyExpired is why the claim was not renewed before its deadline.
func (h *hold) whyExpired() error { return h.lock.client.keeper.whyExpired(&h.tracked) }

// whyGone is the answer that the claim is gone, with what may be the reason.
func (h *hold) whyGone(answer error) error { return h.lock.client.keeper.whyGone(&h.tracked, answer) }

// end makes the hold grant no more. It returns the grant that it has had last, and false when it was over before.
func (h *hold) end() (*grant, bool) { return h.endAs(nil) }

// endAs is end for a hold that was lost.
func (h *hold) endAs(l *loss) (*grant, bool) {
	h.lock.client.keeper.remove(&h.tracked)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.over {
		return h.current, false
	}
	h.over, h.loss = true, l
	if h.watched {
		h.lock.client.inbox.remove(h.claim.ID, h) // see watch
	}
	return h.current, true
}

// finish is what follows when the owner of a grant has released it: the hold goes to the next goroutine, stays taken
// for the rest of its minimum hold, or is given back. It returns what the backend says about the claim, or later: then
// that is told to the observer once it is known.
func (h *hold) finish(ctx context.Context, l *Lease) (later bool, err error) {
	g := l.grant
	if left := h.leastTimeLeft(); left > 0 {
		return false, h.keepForMinimum(ctx, g, left)
	}
	if gs := &h.lock.client.gates; gs.pass(h) || gs.keep(h) {
		return false, nil
	}
	if g.lock.settings.asyncRelease {
		return true, h.giveBackLater(l)
	}
	return false, h.giveBack(ctx, g)
}

// leastTimeLeft is how much of its WithMinHold is left, if anything.
func (h *hold) leastTimeLeft() time.Duration {
	if h.lock.settings.minHold == 0 || h.inVain.Load() {
		return 0
	}
	return h.lock.settings.minHold - now().sub(h.since)
}

// giveBack releases the claim. nil says that the lock was ours until then.
func (h *hold) giveBack(ctx context.Context, g *grant) error {
	if _, ended := h.end(); !ended {
		return h.lostBefore(g)
	}
	defer h.lock.client.gates.left(h)
	patience := h.grantedTTL()
	if ctx.Err() != nil { // it would give nothing back any more
		ctx, patience = context.WithoutCancel(ctx), attemptLimit(patience)
	}
	given := false
	defer func() {
		if !given { // also when the driver panicked
			h.lock.client.undo(h.claim)
		}
	}()
	err := h.lock.client.giveBack(ctx, h.claim, h.validUntil(), patience)
	given = err == nil || isGone(err)
	return h.outcome(g, err)
}

// outcome is what the answer to the release of the claim means to the owner of the grant.
func (h *hold) outcome(g *grant, err error) error {
	switch {
	case err == nil && h.resumed:
		return nil
	case err == nil:
		h.lock.client.ids.over(h.claim)
		return nil
	case isGone(err):
		return g.lost(LostGone, h.whyGone(err))
	default:
		return h.lock.failure("release", ErrUnknown, err, advice("it ends with its TTL at the latest"))
	}
}

// untilGivenBack bounds what follows a release: by the caller's context, unless that was over before, by the deadline,
// and by the end of the client.
func (h *hold) untilGivenBack(ctx context.Context) (context.Context, context.CancelFunc) {
	limit := h.grantedTTL()
	if ctx.Err() != nil {
		ctx, limit = context.WithoutCancel(ctx), attemptLimit(limit)
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	stop := context.AfterFunc(h.lock.client.lifetime, cancel)
	return ctx, func() {
		stop()
		cancel()
	}
}

// surrender ends the grant although its owner did not ask, because the client closes, and gives the claim back in the
// background. It returns where the result will be known; nil when there was no grant any more.
func (h *hold) surrender() *ending {
	h.mu.Lock()
	g := h.current
	h.mu.Unlock()
	if g == nil {
		return nil
	}
	e := &ending{lock: h.lock, known: make(chan struct{})}
	if !g.endBy(e) {
		if h.lock.client.gates.unpause(h) {
			h.unwanted()
		}
		return nil
	}
	if left := h.leastTimeLeft(); left > 0 {
		c := h.lock.client
		c.run(func() {
			_, err := rescued(c, func() (struct{}, error) { return struct{}{}, h.keepForMinimum(c.lifetime, g, left) })
			e.tell(err)
		})
		return e
	}
	if _, ended := h.end(); !ended {
		e.tell(h.lostBefore(g))
		return e
	}
	h.lock.client.undoAndTell(h.claim, h.validUntil(), func(err error) { e.tell(h.outcome(g, err)) })
	h.lock.client.gates.left(h)
	return e
}

// passOn gives the hold to the next goroutine, or the lock back in the background. It is for a grant that is over.
func (h *hold) passOn() {
	if !h.lock.client.gates.pass(h) {
		h.unwanted()
	}
}

// unwanted gives the lock back in the background.
func (h *hold) unwanted() {
	if h.discard() {
		h.lock.client.gates.left(h)
	}
}

// discard is unwanted for a hold that no gate has. It may be called under gates.mu.
func (h *hold) discard() bool {
	_, ended := h.end()
	if ended {
		h.lock.client.undo(h.claim)
	}
	return ended
}

// returnUnused gives back what nobody has, and learns from the answer only that it is done.
func (h *hold) returnUnused() {
	h.mu.Lock()
	g := h.current
	h.mu.Unlock()
	h.giveBack(h.lock.client.lifetime, g)
}

// renewal is the claim as it is requested from now on: once a request to leave it alone was sent, as one that is, which
// alone renews it then.
func (h *hold) renewal() driver.Op {
	claim := h.claim
	if h.alone.Load() {
		claim.Detached, claim.TTL = true, h.aloneFor()
	}
	return driver.Op{Kind: driver.OpRequest, Claim: claim, Follow: h.follows()}
}

// renewed, gone and expired are what the keeper tells; see claimOwner.
func (h *hold) renewed(st driver.Status, sent instant) {
	if !st.Granted {
		h.loseUnder(st.Token, LostGone, errors.New("the backend has withdrawn the grant"))
		return
	}
	h.note(st)
	h.lock.client.gates.answered(h, sent, st.Contended)
}

func (h *hold) expired() { h.lose(LostExpired, h.whyExpired()) }

// gone comes after the deadline too, when this process was paused: then the claim is gone because it expired.
func (h *hold) gone(err error) {
	if h.valid() {
		h.lose(LostGone, err)
	} else {
		h.lose(LostExpired, err)
	}
}

// handsOn reports whether the hold may serve another caller, after it has served so many besides the first.
func (h *hold) handsOn(served int) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	left := h.validUntil().sub(now())
	return !h.over && !h.revoked && h.leaving == nil && h.setting == 0 &&
		served < maxHandoff && left > h.grantedTTL()/leastToShare
}

// isContended reports whether others wait at the backend, by the newest answer.
func (h *hold) isContended() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.contended
}

// valid reports whether the hold can be trusted now.
func (h *hold) valid() bool { return h.validUntil() > now() }
