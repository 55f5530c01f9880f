package driver

import "context"

// A Breaker takes a claim away by force.
type Breaker interface {
	// Break ends the claim, waiting or granted, and grants what that makes grantable. The claim's client learns
	// ErrGone from whatever it asks next, Release included. ErrGone when there is no such claim.
	Break(ctx context.Context, name, id string) error
}

// Break ends a claim as [Breaker] says, or returns an error that wraps [errors.ErrUnsupported].
func Break(ctx context.Context, d Driver, name, id string) error {
	if b, ok := As[Breaker](d); ok {
		return b.Break(ctx, name, id)
	}
	return Unsupported(d.Traits(), "breaking a claim")
}
