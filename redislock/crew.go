package redislock

import (
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
)

// A crew is goroutines that do something for one caller, who gets their panics.
type crew struct {
	running sync.WaitGroup
	mu      sync.Mutex
	panics  []error
}

func (c *crew) run(f func()) {
	c.running.Go(func() {
		defer func() {
			if p := recover(); p != nil {
				c.mu.Lock()
				defer c.mu.Unlock()
				c.panics = append(c.panics, fmt.Errorf("%v\n\n%s", p, debug.Stack()))
			}
		}()
		f()
	})
}

// wait returns when all have ended, or panics as they did.
func (c *crew) wait() {
	c.running.Wait()
	if err := errors.Join(c.panics...); err != nil {
		panic(err)
	}
}
