package drivertest

import (
	"context"
	"errors"
	"time"
)

var watchRows = []row{
	{
		name: "watch",
		why:  "a change of the queue ends Watch, so that elections and dashboards need not poll",
		run: func(e *env) {
			var release func() // nil: nobody has the lock
			e.watches(time.Millisecond, func() {
				if release != nil {
					release()
					release = nil
					return
				}
				c := e.claim()
				st := e.await(e.d, c, e.request(e.d, c)) // it may wait: a release need not have reached all servers
				release = func() { e.release(e.d, c, st) }
			})
		},
	},
	{
		name: "watch sees who comes",
		why:  "who lists those that wait is told of a new one, as of one that has gone",
		run: func(e *env) {
			e.hold(e.claim())
			e.watches(10*time.Millisecond, func() { e.request(e.d, e.claim()) })
		},
		needs: fifo, // elsewhere those that wait need not be known to the backend
	},
	{
		name: "watch ends with its context",
		why:  "who gives up must not hang",
		run: func(e *env) {
			ctx, cancel := context.WithCancel(context.Background())
			ended := make(chan error, 1)
			go func() {
				var err error
				for err == nil {
					err = e.other.Watch(ctx, e.name)
				}
				ended <- err
			}()
			cancel()
			if err := <-ended; !errors.Is(err, context.Canceled) {
				e.Errorf("Watch returned %v, want the error of its context", err)
			}
		},
	},
}

// watches changes the queue until Watch, which has to notice, has ended, with a pause after each change: Watch may not
// have begun, or polls. Each pause is twice as long as the one before, so that a driver that polls does not make the
// test change the queue a thousand times.
func (e *env) watches(pause time.Duration, change func()) {
	e.Helper()
	changed := make(chan error, 1)
	ctx, cancel := context.WithTimeout(context.Background(), e.patience())
	defer cancel()
	go func() { changed <- e.other.Watch(ctx, e.name) }()
	for {
		change()
		select {
		case err := <-changed:
			if err != nil && !e.s.lossy {
				e.Errorf("Watch: %v", err)
			}
			return
		default:
			e.pass(pause)
			pause *= 2
		}
	}
}
