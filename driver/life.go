package driver

import "context"

// A Living engine says in which of its lives it is, without a vote. No two engines ever have the same life: drivers
// that get the same life reach the same engine, under whatever address.
type Living interface {
	// Life returns the life in which the engine answers. It has the ID that a [Voter] returns. A driver of several
	// engines returns an error that wraps [errors.ErrUnsupported].
	Life(ctx context.Context) (Life, error)
}

// LifeOf returns the life of the engine as [Living] says, or an error that wraps [errors.ErrUnsupported].
func LifeOf(ctx context.Context, d Driver) (Life, error) {
	if l, ok := As[Living](d); ok {
		return l.Life(ctx)
	}
	return Life{}, Unsupported(d.Traits(), "telling when it was started")
}
