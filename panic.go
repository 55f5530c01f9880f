package holdfast

import (
	"fmt"
	"log/slog"
	"os"
	"runtime/debug"
)

// A panic of a driver, or of what others have given to it, goes on up to whoever called us, and what was acquired on the
// way is given back. A goroutine of the client has nobody above it, and a crash would leave all other locks of this process
// to their TTL. So a panic there is an error: of a request that may or may not have been applied.

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
	c.warn(logger, "holdfast: a panic in the background", "backend", c.label, "panic", fmt.Sprint(caught.value), "stack", string(caught.stack))
	return fmt.Errorf("the driver panicked: %v", caught.value)
}

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
