package driver

import "context"

// A Checker examines whether the server is configured so that it can keep the driver's promises.
type Checker interface {
	Check(ctx context.Context) ([]Finding, error)
}

// A Finding is one fact about the server, with what to do about it.
type Finding struct {
	Level  Level
	Fact   string // what is so: "maxmemory-policy is allkeys-lru"
	Advice string // what to do, and why; empty when all is well
}

// A Level tells how much a finding matters.
type Level int

const (
	Fine    Level = iota // as it should be
	Warning              // a promise is weaker than it could be
	Unsafe               // locks may be lost or held twice
)

// Check examines the server as [Checker] says, or returns an error that wraps [errors.ErrUnsupported].
func Check(ctx context.Context, d Driver) ([]Finding, error) {
	if c, ok := As[Checker](d); ok {
		return c.Check(ctx)
	}
	return nil, Unsupported(d.Traits(), "checking the server")
}
