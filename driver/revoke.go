package driver

import "context"

// A Revoker asks a holder to let go. The holder decides.
type Revoker interface {
	// Revoke marks the granted claim: its Status is Revoked from then on, and its Wait returns. ErrGone when there is
	// no such claim, or it is not granted.
	Revoke(ctx context.Context, name, id string) error
}

// Revoke asks a holder to let go as [Revoker] says, or returns an error that wraps [errors.ErrUnsupported].
func Revoke(ctx context.Context, d Driver, name, id string) error {
	if r, ok := As[Revoker](d); ok {
		return r.Revoke(ctx, name, id)
	}
	return Unsupported(d.Traits(), "revoking a claim")
}
