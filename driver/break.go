package driver

import "context"

// A Breaker ends a claim by force.
type Breaker interface {
	// Break ends the claim, waiting or granted, and grants what that makes grantable. The next answer to the claim's
	// client is ErrGone, even to Release. Break itself returns ErrGone if there is no such claim.
	Break(ctx context.Context, name, id string) error
}

// Break ends a claim as [Breaker] says, or returns an error that wraps [errors.ErrUnsupported].
func Break(ctx context.Context, d Driver, name, id string) error {
	if b, ok := As[Breaker](d); ok {
		return b.Break(ctx, name, id)
	}
	return Unsupported(d.Traits(), "breaking a claim")
}
