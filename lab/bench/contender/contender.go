// Package contender puts the lock libraries that are compared behind one small interface, each in its own file.
package contender

import (
	"context"
	"time"

	"github.com/holdfast-go/holdfast/lab/bench/wire"
)

// TTL is the time to live that every contender gives its locks: Holdfast's default.
const TTL = 15 * time.Second

// A Contender is a lock library under measurement.
type Contender struct {
	Name   string // for people
	Module string // the module whose version is measured
	Note   string // the options that it was given beyond its defaults
	Waits  bool   // Lock waits for a lock that is taken; otherwise only locks that are free can be measured

	// Open connects a client, which shares nothing with other clients.
	Open func(ctx context.Context, addr string) (Client, error)
	// Renews reports whether a request keeps a lock alive; nil when it never renews while others wait.
	Renews func(wire.Command) bool
}

// A Client takes locks. It is safe for concurrent use.
type Client interface {
	// Lock returns once the lock with this name is held.
	Lock(ctx context.Context, name string) (Held, error)
	Close() error
}

// Held is a lock until Unlock is called, once.
type Held interface {
	Unlock(ctx context.Context) error
}
