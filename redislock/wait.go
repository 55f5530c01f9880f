package redislock

import (
	"context"
	"strconv"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// Wait blocks until the claim may have moved, as [driver.Waiter] says.
func (d *native) Wait(ctx context.Context, c driver.Claim) (driver.Status, error) {
	if err := ctx.Err(); err != nil {
		return driver.Status{}, err
	}
	// Before waiting: a claim whose record names no channel yet would wait for a message that nobody sends. Then the
	// caller asks again, which names the channel.
	if again, err := d.notifier.listenFor(ctx, c); again || err != nil {
		return driver.Status{}, explain(err)
	}
	st, err := d.notifier.wait(ctx, c.ID)
	if d.opts.Replicas > 0 {
		// Whoever granted the claim did not wait for replicas: ask, and have them confirm it.
		return driver.Status{}, err
	}
	return st, err
}

// Listen implements [driver.Listener]. What arrived before somebody listened counts as well, so moved is called at
// once where something did, and where the record of the claim did not name the channel of this client until now.
func (d *native) Listen(ctx context.Context, c driver.Claim, moved func()) (stop func(), err error) {
	again, err := d.notifier.listenFor(ctx, c)
	if err != nil {
		return nil, explain(err)
	}
	// After listenFor, which makes the mailbox if there is none. What arrives between the two is in it, as missed.
	stop, missed := d.notifier.attach(c.ID, moved)
	if again || missed {
		moved()
	}
	return stop, nil
}

// Watch blocks until the queue may have changed, as [driver.Watcher] says.
func (d *native) Watch(ctx context.Context, name string) error {
	k, err := d.keys.of(name)
	if err != nil {
		return err
	}
	if err := d.notifier.ready(ctx, name); err != nil {
		return explain(err)
	}
	// The watch comes before the script that has the server tell of changes: one may be published before the script's
	// answer is here. And it comes after the subscription, whose address the script takes.
	changed, leave := d.notifier.watching(k.claims)
	defer leave()
	lasts := strconv.FormatInt(watchFor.Milliseconds(), 10)
	if _, err := d.run(ctx, &d.scripts.watch, k, d.notifier.address(name), lasts); err != nil {
		return err
	}
	timeout := time.NewTimer(watchFor)
	defer timeout.Stop()
	select {
	case <-changed:
		return nil
	case <-timeout.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-d.notifier.closed:
		return driver.ErrClosed
	}
}
