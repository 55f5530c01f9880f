package redislock

import (
	"context"
	"strconv"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// askEvery is the longest pause between two questions where there is no connection to listen on.
const askEvery = 250 * time.Millisecond

// Wait blocks until the lock may have become free, as [driver.Waiter] says. A claim that has the lock hears nothing:
// its renewals tell what became of it.
func (f *foreign) Wait(ctx context.Context, c driver.Claim) (driver.Status, error) {
	if err := ctx.Err(); err != nil {
		return driver.Status{}, err
	}
	if c.Token != 0 {
		select {
		case <-ctx.Done():
			return driver.Status{}, ctx.Err()
		case <-f.notifier.closed:
			return driver.Status{}, driver.ErrClosed
		}
	}
	if f.opts.Layout == PythonRedisLock {
		return driver.Status{}, f.pop(ctx, f.form(c.Name).signal)
	}
	return f.hear(ctx, c)
}

// Listen implements [driver.Listener] for layouts in which nobody tells a holder anything: its renewals find out what
// became of the lock. Without Listen the client would keep a goroutine in Wait for each lease, to the same end.
func (f *foreign) Listen(ctx context.Context, _ driver.Claim, _ func()) (stop func(), err error) {
	return func() {}, ctx.Err()
}

// hear waits for a message. The first time it returns as soon as it listens, because the lock may have become free
// before.
func (f *foreign) hear(ctx context.Context, c driver.Claim) (driver.Status, error) {
	if f.channels.address(c.Name) == nowhere && f.channels.count() >= mostHeard {
		return driver.Status{}, driver.Pause(ctx, askEvery)
	}
	if again, err := f.notifier.listenFor(ctx, c); again || err != nil {
		return driver.Status{}, explain(err)
	}
	return f.notifier.wait(ctx, c.ID)
}

// pop takes a signal from a list. Each signal wakes one client, so only who waits may take one.
func (f *foreign) pop(ctx context.Context, list string) error {
	select {
	case f.popping <- struct{}{}:
		defer func() { <-f.popping }()
	default:
		return driver.Pause(ctx, askEvery)
	}
	for {
		came, err := f.popOnce(ctx, list, popFor)
		if came || err != nil {
			return err
		}
	}
}

// popOnce waits for a signal for some time, and reports whether one came.
func (f *foreign) popOnce(ctx context.Context, list string, wait time.Duration) (bool, error) {
	seconds := strconv.FormatFloat(wait.Seconds(), 'f', -1, 64)
	cmd := Command{Head: []string{"BLPOP"}, Keys: []string{list}, Tail: []string{seconds}}
	reply := f.conn.DoTogether(ctx, []Command{cmd})[0]
	return len(reply.Values) > 0, explain(reply.Err)
}

// tryToListen waits for a signal as Wait does, for as short as can be, or begins to listen.
func (f *foreign) tryToListen(ctx context.Context, lock string) error {
	if f.opts.Layout == PythonRedisLock {
		_, err := f.popOnce(ctx, f.form(lock).signal, time.Millisecond)
		return err
	}
	return f.channels.ready(ctx, lock)
}
