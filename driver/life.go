package driver

import "context"

// A Living is an engine that tells in which of its lives it is, without being asked for a vote. No two engines ever
// have had the same life: drivers whose engines are in the same one reach the same engine, whatever that is called
// by.
type Living interface {
	// Life returns the life in which the engine answers. It has the ID that a [Voter] tells. A driver of several
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
