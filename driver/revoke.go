package driver

import "context"

// A Revoker asks a holder to release its claim. The holder decides.
type Revoker interface {
	// Revoke marks the granted claim: its Status is Revoked from then on, and its Wait returns. It returns ErrGone if
	// there is no such claim, or if the claim is not granted.
	Revoke(ctx context.Context, name, id string) error
}

// Revoke asks a holder to release its claim as [Revoker] says, or returns an error that wraps [errors.ErrUnsupported].
func Revoke(ctx context.Context, d Driver, name, id string) error {
	if r, ok := As[Revoker](d); ok {
		return r.Revoke(ctx, name, id)
	}
	return Unsupported(d.Traits(), "revoking a claim")
}
