package driver

import (
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
)

// A Group runs functions in goroutines for one caller, who gets their panics. The zero value is ready.
type Group struct {
	running sync.WaitGroup
	mu      sync.Mutex
	panics  []error
}

// Go runs f in a goroutine.
func (g *Group) Go(f func()) {
	g.running.Go(func() {
		defer func() {
			if p := recover(); p != nil {
				g.mu.Lock()
				defer g.mu.Unlock()
				g.panics = append(g.panics, panicError(p))
			}
		}()
		f()
	})
}

// panicError is the error for a panic that was recovered, to go on with in another goroutine.
func panicError(p any) error {
	if err, ok := p.(error); ok {
		return fmt.Errorf("%w\n\n%s", err, debug.Stack())
	}
	return fmt.Errorf("%v\n\n%s", p, debug.Stack())
}

// Wait returns when all functions have. If some have panicked, it panics with what they said.
func (g *Group) Wait() {
	g.running.Wait()
	if err := errors.Join(g.panics...); err != nil {
		panic(err)
	}
}

// DoEach implements [Driver.Do] for engines on which each operation of a batch goes its own way: do makes one
// attempt at one operation. An operation that is alone runs on the goroutine of the caller, and others have one each,
// so that none waits for another.
func DoEach(batch []Op, done func(i int, r Result), do func(Op) Result) {
	if len(batch) == 1 {
		done(0, do(batch[0]))
		return
	}
	var g Group
	for i, op := range batch {
		g.Go(func() { done(i, do(op)) })
	}
	g.Wait()
}
