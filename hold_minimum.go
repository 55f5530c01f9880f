package holdfast

import (
	"context"
	"errors"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// inVain says whether nobody gets the lease, or has it yet. Then the lock need not stay taken for its minimum hold,
// unless the lease is counted within one that somebody has.
func (l *Lease) inVain(is bool) {
	if l.outer == nil {
		l.grant.hold.inVain.Store(is)
	}
}

// keepForMinimum keeps a lock taken that its owner has released before its minimum hold was over. Where the backend
// can, the claim gets the rest as its TTL and is left alone, so that this process may end; elsewhere it is kept alive
// until then.
func (h *hold) keepForMinimum(ctx context.Context, g *grant, left time.Duration) error {
	ctx, cancel := h.untilGivenBack(ctx)
	defer cancel()
	if !h.lock.client.canDetach(left) {
		return h.stayIfOurs(ctx, g, left)
	}
	if !h.notLeaving(ctx) || !h.settle(ctx) {
		return h.stayUnsettled(g, left)
	}
	h.end() // so that nobody gives the claim back when its deadline passes
	unanswered, err := h.leaveUntil(ctx, now().add(left))
	switch {
	case err == nil:
		return nil
	case isGone(err) && !unanswered:
		return g.lost(LostGone, h.whyGone(err))
	default: // a claim that is gone now may have been left alone for its minimum hold, and have ended after that
		return h.lock.failure("release", ErrUnknown, err,
			advice("it was held until now, and may be free before its minimum hold is over"))
	}
}

// leaveUntil lets the claim live until this instant, with or without its client, and gives it back if that has come
// before the backend answers. unanswered says that an attempt before the last may have been applied.
func (h *hold) leaveUntil(ctx context.Context, end instant) (unanswered bool, err error) {
	c, claim := h.lock.client, h.claim
	claim.Detached = true
	giveUp := now().add(h.claim.TTL)
	for pace := newPace(); ; unanswered = unanswered || !isUnsent(err) {
		sent := now()
		if claim.TTL = end.sub(sent); claim.TTL <= 0 {
			return unanswered, c.giveBack(ctx, h.claim, 0, giveUp.sub(sent))
		}
		claim.TTL = max(claim.TTL, c.traits.MinTTL)
		err = c.request(ctx, claim, 0, attemptLimit(h.claim.TTL), sent).Err
		if driver.IsAnswer(err) || now() > giveUp || pace.Pause(ctx) != nil {
			return unanswered, err
		}
	}
}

// aloneFor is for how long the claim may live that is left alone now: for its TTL, and for the rest of its minimum hold
// if the backend lets it. A later one asks for no longer a time. So a copy of such a request that comes late, even
// after that of a release, ends no minimum hold: at worst the lock stays taken for longer.
func (h *hold) aloneFor() time.Duration {
	d := max(h.claim.TTL, h.leastTimeLeft())
	if most := h.lock.client.traits.MaxTTL; most > 0 {
		d = min(d, most)
	}
	return d
}

// settle ends the renewals of the claim, once none is under way: one that arrived after what comes next would undo
// that. The keeper goes on looking after the deadline. It is false when ctx or the hold ended before.
func (h *hold) settle(ctx context.Context) bool {
	for pace := newPace(); !h.lock.client.keeper.leaveAlone(&h.tracked); {
		if !h.alive() || !h.valid() || pace.Pause(ctx) != nil {
			return false
		}
	}
	return true
}

// canDetach reports whether a claim may be left alone for this long.
func (c *Client) canDetach(left time.Duration) bool {
	t := c.traits
	return t.Detach && (t.MaxTTL == 0 || left <= t.MaxTTL)
}

// stayIfOurs is stay after the backend has said that the claim is still there.
func (h *hold) stayIfOurs(ctx context.Context, g *grant, left time.Duration) error {
	gone := false
	defer func() {
		if !gone { // also when the driver panicked
			h.stay(left)
		}
	}()
	_, _, err := h.lock.request(ctx, h.renewal().Claim, h.grantedTTL())
	if gone = isGone(err); gone {
		h.end()
		return g.lost(LostGone, h.whyGone(err))
	}
	if err != nil {
		return h.lock.failure("release", ErrUnknown, err, advice("it is kept for the rest of its minimum hold"))
	}
	return nil
}

// stayUnsettled is stay where a renewal is under way that nobody has answered.
func (h *hold) stayUnsettled(g *grant, left time.Duration) error {
	if !h.alive() || !h.valid() {
		return h.lostBefore(g)
	}
	h.stay(left)
	return h.lock.failure("release", ErrUnknown,
		errors.New("a renewal was not answered yet"), advice("it is kept for the rest of its minimum hold"))
}

// stay keeps the claim alive for so long, then gives it back. Close waits for it.
func (h *hold) stay(left time.Duration) {
	h.mu.Lock()
	h.current = nil
	h.mu.Unlock()
	c := h.lock.client
	c.run(func() {
		if driver.Sleep(c.lifetime, left) == nil {
			h.unwanted()
		}
	})
}
