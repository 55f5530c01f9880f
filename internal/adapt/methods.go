// Package adapt implements [driver.Driver] for engines that have a method for each operation.
package adapt

import (
	"context"

	"github.com/holdfast-go/holdfast/driver"
)

// Methods are the operations of an engine. What each of them does is what [driver.Kind] says.
type Methods interface {
	Traits() driver.Traits
	Request(ctx context.Context, c driver.Claim) (driver.Status, error)
	Release(ctx context.Context, c driver.Claim) error
	Queue(ctx context.Context, name string) ([]driver.Entry, error)
	Break(ctx context.Context, name, id string) error
	Revoke(ctx context.Context, name, id string) error
	Value(ctx context.Context, name string) (driver.Value, error)
	SetValue(ctx context.Context, c driver.Claim, v driver.Value) error

	// Renew requests each of the claims, all of which were queued before, in one round trip, and returns a result for
	// each, in the same order. An error is for the whole batch: nothing is known about any of them. See
	// [driver.Op.Brief].
	Renew(ctx context.Context, claims []driver.Claim) ([]driver.Result, error)

	// Wait and Watch are what [driver.Followers] need.
	Wait(ctx context.Context, c driver.Claim) (driver.Status, error)
	Watch(ctx context.Context, name string) error
}

// Kinds are the operations of an engine that has [Methods].
const Kinds = driver.Kinds(1<<driver.OpRequest | 1<<driver.OpRelease | 1<<driver.OpQueue | 1<<driver.OpBreak |
	1<<driver.OpRevoke | 1<<driver.OpValue | 1<<driver.OpSetValue | 1<<driver.OpWatch)

// A listener tells of granted claims without a goroutine for each: see [driver.Followers]. For an engine that is none,
// they are waited for.
type listener interface {
	Listen(ctx context.Context, c driver.Claim, moved func()) (stop func(), err error)
}

// A peeker reads the head of a queue without the rest, which may be long.
type peeker interface {
	Peek(ctx context.Context, name string, n int) ([]driver.Entry, error)
}
