package redislock

import (
	"context"
	"errors"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// A Driver keeps locks on Redis, in the layout that its options name. All methods are safe for concurrent use.
//
// Its abilities depend on the layout: see its traits. In the layout of Holdfast it does all operations, and has the
// abilities [driver.Lister], [driver.Checker] and [driver.Sharder], which [driver.As] finds. The layouts of other
// libraries know one holder and no queue: there it requests and releases claims, and is a Checker. If the layout has no
// queue, a waiting claim has no place.
type Driver struct{ layout driver.Driver }

var (
	_ driver.Wrapper = (*Driver)(nil)
	_ driver.Driver  = (*Driver)(nil)
)

// Unwrap implements [driver.Wrapper]: it returns the driver of the layout.
func (d *Driver) Unwrap() driver.Driver { return d.layout }

// Traits returns facts about the driver.
func (d *Driver) Traits() driver.Traits { return d.layout.Traits() }

// Do makes one attempt at each operation of a batch, as [driver.Driver] says.
func (d *Driver) Do(ctx context.Context, batch []driver.Op, done func(int, driver.Result)) {
	d.layout.Do(ctx, batch, done)
}

// Subscribe has tell called with what happens to claims, as [driver.Driver] says.
func (d *Driver) Subscribe(tell func(driver.Event)) (stop func()) { return d.layout.Subscribe(tell) }

// Close ends all waits, and closes the connection unless it was passed to New.
func (d *Driver) Close() error { return d.layout.Close() }

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
