package driver

import (
	"context"
	"time"
)

// A Life is the time from one start of an engine to the next.
type Life struct {
	ID  string        // a new one after each start, in the characters of a claim's ID
	Age time.Duration // for how long it has lasted at least, by the engine's clock
}

// A Voter is a [Proposer] that says in which of its lives it answered. It is for quorums: an engine that restarts may
// have forgotten what it granted, and its vote is worth nothing for a while.
type Voter interface {
	// Vote proposes as [Proposer] says. The Life is the one in which the engine applied the proposal.
	Vote(ctx context.Context, c Claim, token uint64) (Status, Life, error)
}

// Vote proposes a token and returns the engine's life as [Voter] says, or returns an error that wraps
// [errors.ErrUnsupported].
func Vote(ctx context.Context, d Driver, c Claim, token uint64) (Status, Life, error) {
	if v, ok := As[Voter](d); ok {
		return v.Vote(ctx, c, token)
	}
	return Status{}, Life{}, Unsupported(d.Traits(), "telling when it was started")
}
