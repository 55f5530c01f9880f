package driver

import (
	"context"
	"time"
)

// A Waiter tells a client when its claim may have moved, so that the client need not poll.
type Waiter interface {
	// Wait blocks until the claim may have moved: a waiting claim was granted or ended, a granted one was revoked,
	// broken or lost. A Status that is not zero is the claim's new state; a zero Status means "ask again". ErrGone is
	// the claim's end. Returning early is allowed; returning late only costs time. If ctx ends, Wait returns its error.
	//
	// A driver listens before it sends a Request that may queue, and keeps what arrives until Wait collects it, so
	// nothing is missed between the two. It forgets the claim when the claim is released.
	Wait(ctx context.Context, c Claim) (Status, error)
}

// Wait blocks until the claim may have moved, as [Waiter] says. If d is no Waiter, it pauses and returns a zero Status,
// which means "ask again".
func Wait(ctx context.Context, d Either, c Claim) (Status, error) {
	if w, ok := As[Waiter](d); ok {
		return w.Wait(ctx, c)
	}
	return Status{}, Pause(ctx, pollPause(c.TTL))
}

// pollPause is the longest pause between two questions about a claim: far below its TTL.
func pollPause(ttl time.Duration) time.Duration {
	return min(max(ttl/60, 10*time.Millisecond), 500*time.Millisecond)
}
