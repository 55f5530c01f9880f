package holdfast

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// Bounds of following a queue.
const (
	lookTime    = 5 * time.Second // a look at the queue is given up after it
	longestLull = 5 * time.Second // between two looks while something fails
)

// Watch yields the queue of a lock as [Client.Queue] returns it, now and after each change, until ctx ends or the
// client is closed. Now and then it yields a queue that has not changed. If queues follow each other quickly, it may
// skip some, but never the last one. It is meant for onlookers: for a claim of your own, use its lease. Each look reads
// the whole queue.
//
// An error says that the queue is not known at the moment, such as during an outage. Watch keeps looking, at least
// every few seconds, and yields the error of each look that fails, and then the queue. Break out of the loop to give
// up. Only an error that matches [errors.ErrUnsupported], ErrInvalidName or ErrClosed ends the sequence.
func (c *Client) Watch(ctx context.Context, name string) iter.Seq2[[]Entry, error] {
	l := c.lock(name, nil)
	return l.follow(ctx)
}

// follow yields the queue of the lock, now and after each change, until ctx ends or the client is closed. An error does
// not end it, unless no look can ever succeed: it yields each, looks again after a growing pause, and goes on.
func (l *lock) follow(ctx context.Context) iter.Seq2[[]Entry, error] {
	return func(yield func([]Entry, error) bool) {
		ctx, stop := l.client.untilClosed(ctx)
		defer stop()
		changed, unwatch := l.client.inbox.watch(l.name)
		defer unwatch()
		for pace := paceUpTo(longestLull); ctx.Err() == nil; {
			unwatched := l.watch(ctx, changed)
			queue, err := l.look(ctx)
			if ctx.Err() != nil || l.client.closed() != nil {
				break
			}
			if !yield(queue, err) || isHopeless(err) {
				return
			}
			if err != nil || unwatched != nil {
				pace.Pause(ctx) // the loop looks at ctx
				continue
			}
			pace.Reset()
			l.awaitChange(ctx, changed)
		}
		if err := l.client.closed(); err != nil {
			yield(nil, l.failure("queue of", err))
		}
	}
}

// look reads the queue, and does not wait for ever for a backend that does not answer.
func (l *lock) look(ctx context.Context) ([]Entry, error) {
	late := fmt.Errorf("no answer within %v", lookTime)
	ctx, cancel := context.WithTimeoutCause(ctx, lookTime, late)
	defer cancel()
	queue, err := l.client.Queue(ctx, l.name)
	if err == nil || isServerError(err) || !errors.Is(context.Cause(ctx), late) {
		return queue, err
	}
	if unserved := errors.Unwrap(err); unserved != nil { // without the name of the lock, which comes once
		err = unserved
	}
	return nil, l.failure("queue of", err, late)
}

// watch has the driver tell the next change of the queue. What it has told before counts no more.
func (l *lock) watch(ctx context.Context, changed <-chan struct{}) error {
	select {
	case <-changed:
	default:
	}
	op := driver.Op{Kind: driver.OpWatch, Claim: driver.Claim{Name: l.name}}
	_, err := rescued(l.client, func() (struct{}, error) {
		return struct{}{}, l.client.sender.Do(ctx, op, lookTime).Err
	})
	return err
}

// awaitChange returns when the queue may have changed, when it is time to look anyway, or when ctx ends. It is true in
// the first case.
func (l *lock) awaitChange(ctx context.Context, changed <-chan struct{}) bool {
	timer := time.NewTimer(max(l.settings.ttl, shortestTTL) / renewAfter)
	defer timer.Stop()
	select {
	case <-changed:
		return true
	case <-timer.C:
	case <-ctx.Done():
	}
	return false
}

// isHopeless reports whether an error says that no look will ever succeed.
func isHopeless(err error) bool {
	return errors.Is(err, errors.ErrUnsupported) || errors.Is(err, ErrInvalidName)
}
