package holdfast

import (
	"context"
	"errors"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// linger keeps a lock taken that its owner has released before its least time was over. Where the backend can, the
// claim gets the rest as its TTL and is left alone, so that this process may end; elsewhere it is kept alive until then.
func (h *hold) linger(ctx context.Context, g *grant, left time.Duration) error {
	ctx, cancel := h.untilGivenBack(ctx)
	defer cancel()
	if !h.lock.client.canDetach(left) {
		return h.stayIfOurs(ctx, g, left)
	}
	if !h.settle(ctx) {
		if !h.alive() || !h.valid() {
			return g.lost(LostGone, nil)
		}
		h.stay(left)
		return nil
	}
	err := h.leave(ctx, max(left, h.lock.client.traits.MinTTL))
	h.end()
	switch {
	case err == nil:
		return nil
	case isGone(err):
		return g.lost(LostGone, nil)
	default:
		return h.lock.failure("release", ErrUnknown, err, errors.New("the lock may be free before its least time is over"))
	}
}

// leave gives the claim this long to live, with or without its client. Nobody keeps it from here on.
func (h *hold) leave(ctx context.Context, ttl time.Duration) error {
	claim := h.claim
	claim.TTL, claim.Detached = ttl, true
	_, _, err := h.lock.request(ctx, claim, h.claim.TTL)
	return err
}

// settle ends the keeping of the claim, once no renewal of it is under way: one that arrived after what comes next would
// undo that. It is false when ctx or the hold ended before.
func (h *hold) settle(ctx context.Context) bool {
	for pace := (pace{}); !h.lock.client.keeper.removeIdle(&h.kept); {
		if !h.alive() || !h.valid() || pace.pause(ctx) != nil {
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
	_, _, err := h.lock.request(ctx, h.claim, h.grantedTTL())
	if isGone(err) {
		h.end()
		return g.lost(LostGone, nil)
	}
	h.stay(left)
	if err != nil {
		return h.lock.failure("release", ErrUnknown, err, errors.New("it is kept for the rest of its least time"))
	}
	return nil
}

// stay keeps the claim alive for so long, then gives it back. Close waits for it.
func (h *hold) stay(left time.Duration) {
	h.mu.Lock()
	h.current = nil
	h.mu.Unlock()
	c := h.lock.client
	c.background.run(func() {
		if driver.Sleep(c.lifetime, left) == nil {
			h.unwanted()
		}
	})
}
