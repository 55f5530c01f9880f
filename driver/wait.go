package driver

import (
	"context"
	"math/rand/v2"
	"time"
)

// A Waiter tells a client when its claim may have moved, so that it need not ask.
type Waiter interface {
	// Wait blocks until the claim may have moved: a waiting claim was granted or ended, a granted one was revoked,
	// broken or lost. A Status that is not zero is the claim's new state; a zero Status means "ask again". ErrGone is
	// the claim's end. Returning early is allowed, returning late only costs time. When ctx ends, Wait returns its error.
	//
	// A driver listens before it sends a queued Request, and keeps what arrives until Wait collects it, so nothing is
	// missed between the two. It forgets the claim when that is released.
	Wait(ctx context.Context, c Claim) (Status, error)
}

// Wait blocks until the claim may have moved, as [Waiter] says. Where d is no Waiter, it pauses and answers "ask again".
func Wait(ctx context.Context, d Driver, c Claim) (Status, error) {
	if w, ok := As[Waiter](d); ok {
		return w.Wait(ctx, c)
	}
	return Status{}, Sleep(ctx, pollPause(c.TTL))
}

// pollPause is how long to wait between two questions about a claim: far below its TTL, and never in step with others.
func pollPause(ttl time.Duration) time.Duration {
	pause := min(max(ttl/60, 10*time.Millisecond), 500*time.Millisecond)
	return pause - rand.N(pause/2)
}

// Sleep pauses for d, or until ctx ends, and then returns its error.
func Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
