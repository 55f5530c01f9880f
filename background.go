package holdfast

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"runtime/debug"
	"sync"

	"github.com/holdfast-go/holdfast/driver/batch"
	"github.com/holdfast-go/holdfast/internal/stack"
)

// background counts what is under way for a client, so that Close can wait for it: acquisitions, and what goes on after
// a call returned.
type background struct {
	mu   sync.Mutex
	n    int
	idle chan struct{} // closed when n becomes zero; nil when nobody waits for that
}

// run calls f in a goroutine of its own, and counts it.
func (b *background) run(f func()) {
	b.enter()
	go func() {
		defer b.leave()
		stack.Grow()
		f()
	}()
}

func (b *background) enter() {
	b.mu.Lock()
	b.n++
	b.mu.Unlock()
}

func (b *background) leave() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.n--
	if b.n == 0 && b.idle != nil {
		close(b.idle)
		b.idle = nil
	}
}

// wait returns when nothing is under way, or the context's cause when that ends first.
func (b *background) wait(ctx context.Context) error {
	if closesWithin(ctx, b.done()) {
		return nil
	}
	return context.Cause(ctx)
}

// closesWithin reports whether c is closed, and waits for that while ctx lasts. Where both have happened it is: a
// select would draw lots.
func closesWithin(ctx context.Context, c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	case <-ctx.Done():
	}
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func (b *background) done() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.n == 0 {
		now := make(chan struct{})
		close(now)
		return now
	}
	if b.idle == nil {
		b.idle = make(chan struct{})
	}
	return b.idle
}

// A panic of a driver, or of what others have given to it, goes on up to whoever called us, and what was acquired on
// the way is given back. A goroutine of the client has nobody above it, and a crash would leave all other locks of
// this process to their TTL. So a panic there is an error: of a request that may or may not have been applied.

// A crash is a panic that was caught.
type crash struct {
	value any
	stack []byte
}

// catch calls f, and returns its panic; nil when it returned.
func catch(f func()) (c *crash) {
	defer func() {
		if value := recover(); value != nil {
			c = &crash{value, debug.Stack()}
		}
	}()
	f()
	return nil
}

// rescued is what a call of others' code returns in a goroutine of the client.
func rescued[T any](c *Client, call func() (T, error)) (v T, err error) {
	if caught := catch(func() { v, err = call() }); caught != nil {
		err = c.survive(caught)
	}
	return v, err
}

// survive tells of a panic that ends nothing, and returns it as an error.
func (c *Client) survive(caught *crash) error {
	logger := c.settings.logger
	if logger == silent { // of a panic somebody has to learn
		logger = slog.Default()
	}
	c.warn(logger, "holdfast: a panic in the background",
		"backend", c.label, "panic", fmt.Sprint(caught.value), "stack", string(caught.stack))
	return fmt.Errorf("the driver panicked: %v", caught.value)
}

// rescuedFrom returns the error of an operation in the background. A panic of the driver is told, and is an error.
func (c *Client) rescuedFrom(err error) error {
	if p, ok := err.(*batch.Panic); ok {
		return c.survive(&crash{p.Value, p.Stack})
	}
	return err
}

// strayed tells of a panic of the driver of which no caller can be told.
func (c *Client) strayed(p *batch.Panic) { c.survive(&crash{p.Value, p.Stack}) }

// run calls f in a goroutine of its own, which Close waits for.
func (c *Client) run(f func()) {
	c.background.run(func() {
		if caught := catch(f); caught != nil {
			c.survive(caught)
		}
	})
}

// cry tells of a panic of the logger.
func cry(caught *crash) {
	fmt.Fprintf(os.Stderr, "holdfast: the logger panicked: %v\n%s", caught.value, caught.stack)
}
