package driver

import "context"

// A Proposer grants under a token that the caller chose, for quorums: many engines then agree on one token.
type Proposer interface {
	// Propose requests the claim without queueing it. When it is granted and token is greater than every token the lock
	// has had, or is the one this claim has, the claim has it from now on. Otherwise the claim stays granted, under a
	// token that the engine chose, and the caller may propose one that is greater than Status.Token: the greatest token
	// so far, and greater than the one that was proposed.
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
