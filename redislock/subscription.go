package redislock

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// An subscription keeps one subscription until it is closed, through all that breaks it.
type subscription struct {
	subscribe func(ctx context.Context, listening func()) error // returns when the subscription has ended
	missed    func()                                            // a broken subscription is back: something may have been missed
	stop      context.CancelFunc
	finished  chan struct{}

	begun atomic.Bool // it has listened at least once

	mu      sync.Mutex
	attempt chan struct{} // closed when the attempt to listen has ended, one way or the other
	failed  error         // why the last one did
}

func subscribe(subscribe func(context.Context, func()) error, missed func()) *subscription {
	running, stop := context.WithCancel(context.Background())
	e := &subscription{subscribe: subscribe, missed: missed, stop: stop, finished: make(chan struct{}), attempt: make(chan struct{})}
	go e.listen(running)
	return e
}

// ready returns when the server has confirmed the subscription once, or with the error of the attempt. While a broken one
// is being renewed it does not wait: missed is called when that is done.
func (e *subscription) ready(ctx context.Context) error {
	if e.begun.Load() {
		return nil
	}
	e.mu.Lock()
	attempt := e.attempt
	e.mu.Unlock()
	if e.begun.Load() { // meanwhile: the attempt is another one
		return nil
	}
	select {
	case <-attempt:
		e.mu.Lock()
		defer e.mu.Unlock()
		if e.begun.Load() {
			return nil
		}
		return e.failed
	case <-e.finished:
		return driver.ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

// hears tells whether it has listened at least once.
func (e *subscription) hears() bool { return e.begun.Load() }

// Pauses between two attempts to listen.
const (
	firstPause = 10 * time.Millisecond
	lastPause  = time.Second
)

// listen keeps the subscription until close.
func (e *subscription) listen(ctx context.Context) {
	defer close(e.finished)
	pace := driver.Backoff{First: firstPause, Most: lastPause}
	for ctx.Err() == nil {
		var worked atomic.Bool
		err := e.subscribe(ctx, func() { worked.Store(true); e.connected() })
		e.disconnected(err)
		if worked.Load() {
			pace.Reset()
		}
		pace.Pause(ctx) // the loop looks at ctx
	}
}

func (e *subscription) connected() {
	e.mu.Lock()
	again := e.begun.Swap(true)
	e.endAttempt(nil)
	e.mu.Unlock()
	if again {
		e.missed()
	}
}

func (e *subscription) disconnected(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err == nil {
		err = errors.New("redis: the subscription ended")
	}
	if !e.begun.Load() {
		e.endAttempt(err)
	}
}

// endAttempt lets go those who wait for the attempt, and begins another.
func (e *subscription) endAttempt(err error) {
	e.failed = err
	close(e.attempt)
	e.attempt = make(chan struct{})
}

// close ends the subscription.
func (e *subscription) close() {
	e.stop()
	<-e.finished
}
