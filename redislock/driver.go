package redislock

import (
	"context"
	"errors"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// A Driver keeps locks on Redis, in the layout that its options name. All methods are safe for concurrent use.
//
// Its other abilities depend on the layout; [driver.As] and the functions of package driver find them. In the layout of
// Holdfast it is a [driver.Waiter], [driver.Listener], [driver.Renewer], [driver.Watcher], [driver.Peeker],
// [driver.Lister], [driver.Breaker], [driver.Revoker], [driver.Proposer], [driver.Voter], [driver.Living],
// [driver.Checker] and [driver.Identifier]. The layouts of other libraries know one holder and no queue: there it is a
// Waiter, a Listener, a Checker and an Identifier.
type Driver struct {
	layout  driver.Driver
	batches driver.BatchDriver // the same
}

var (
	_ driver.Wrapper     = (*Driver)(nil)
	_ driver.BatchDriver = (*Driver)(nil)
)

// Unwrap implements [driver.Wrapper]: it returns the driver of the layout.
func (d *Driver) Unwrap() driver.Driver { return d.layout }

// Traits returns facts about the driver.
func (d *Driver) Traits() driver.Traits { return d.batches.Traits() }

// Request queues the claim or renews it, as [driver.Driver] says. If the layout has no queue, a waiting claim has no
// place: [driver.Wait] says when to ask again.
func (d *Driver) Request(ctx context.Context, c driver.Claim) (driver.Status, error) {
	return d.layout.Request(ctx, c)
}

// Release releases the claim and wakes those whom it grants the lock, as [driver.Driver] says.
func (d *Driver) Release(ctx context.Context, c driver.Claim) error { return d.layout.Release(ctx, c) }

// Queue returns the live claims on a lock, oldest first. A lock that another client holds comes ahead of them, as a
// claim with the ID [ForeignID]. In the layouts of other libraries it is not supported, because they have no record of
// who waits.
func (d *Driver) Queue(ctx context.Context, name string) ([]driver.Entry, error) {
	return d.layout.Queue(ctx, name)
}

// Do makes one attempt at each operation of a batch, as [driver.BatchDriver] says.
func (d *Driver) Do(ctx context.Context, batch []driver.Op, done func(int, driver.Result)) {
	d.batches.Do(ctx, batch, done)
}

// Subscribe has tell called with what happens to claims, as [driver.BatchDriver] says.
func (d *Driver) Subscribe(tell func(driver.Event)) (stop func()) { return d.batches.Subscribe(tell) }

// Close ends all waits, and closes the connection unless it was passed to New.
func (d *Driver) Close() error { return d.batches.Close() }

var (
	errNoClient = errors.New("redislock: the client is nil; open one with rueidis.NewClient")
	errFollows  = errors.New("redislock: the client follows one sentinel, so it trusts a replaced master " +
		"until it hears of the new one, and a lock may be granted twice; open a URL like " + likeSentinel +
		", which asks all sentinels, and keep this client for other things")
)

// Bounds of what a claim may ask for.
const (
	minTTL  = 100 * time.Millisecond
	maxTTL  = 366 * 24 * time.Hour
	maxName = 4096
)
