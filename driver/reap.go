package driver

import (
	"context"
	"time"
)

// A Reaper removes what ended claims have left behind, if the engine does not do so by itself.
type Reaper interface {
	// Reap removes leftovers that nobody has used for age, and returns what it removed. It never touches a live claim,
	// nor what keeps tokens growing while no clock goes back by more than age.
	Reap(ctx context.Context, age time.Duration) ([]Leftover, error)
}

// A Leftover is something that was removed.
type Leftover struct {
	Kind string // what it was: "last token", "expired claim"
	Name string // the lock it belonged to; empty if it belonged to none
}

// Reap removes leftovers as [Reaper] says. A backend that is no Reaper leaves none behind.
func Reap(ctx context.Context, d Driver, age time.Duration) ([]Leftover, error) {
	if r, ok := As[Reaper](d); ok {
		return r.Reap(ctx, age)
	}
	return nil, nil
}
