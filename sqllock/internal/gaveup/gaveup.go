// Package gaveup says why a request was given up.
package gaveup

import (
	"context"
	"errors"

	"github.com/holdfast-go/holdfast/driver"
)

// Cause is why a context has ended: its cause, unless who reads that in an error would take it for what the server said
// about the request, or for its never having been sent. The cause of a lease's context is such a one: the server no
// longer has that lock, or was not reached.
func Cause(ctx context.Context) error {
	cause := context.Cause(ctx)
	if driver.IsAnswer(cause) || errors.Is(cause, driver.ErrUnsent) {
		return ctx.Err()
	}
	return cause
}
