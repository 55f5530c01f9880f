package driver

import "context"

// A Proposer grants under a token that the caller chose. It is for quorums, in which many engines agree on one token.
type Proposer interface {
	// Propose requests the claim without queueing it. If it is granted, and token is greater than every token that the
	// lock has had, or is the claim's own, the claim has this token from now on. Otherwise a granted claim has a token
	// that the engine chose: greater than all before and than the proposed one. The caller may then propose one that is
	// greater than Status.Token.
	Propose(ctx context.Context, c Claim, token uint64) (Status, error)
}

// Propose grants a claim under a chosen token as [Proposer] says, or returns an error that wraps
// [errors.ErrUnsupported].
func Propose(ctx context.Context, d Driver, c Claim, token uint64) (Status, error) {
	if p, ok := As[Proposer](d); ok {
		return p.Propose(ctx, c, token)
	}
	return Status{}, Unsupported(d.Traits(), "granting under a chosen token")
}
