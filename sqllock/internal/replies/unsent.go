package replies

import (
	"context"
	"errors"
	"fmt"

	"github.com/holdfast-go/holdfast/driver"
)

// Unsent marks an error of a request of which nothing came, whatever the server's words alone would mean. A refusal of
// our own says so already.
func Unsent(err error) error {
	server, fromServer := errors.AsType[*driver.ServerError](err)
	if errors.Is(err, driver.ErrUnsent) || !fromServer && errors.Is(err, driver.ErrRefused) {
		return err
	}
	unsent := fmt.Errorf("%w: %w", driver.ErrUnsent, err)
	if !fromServer {
		return unsent
	}
	nothing := *server
	nothing.Err = unsent // its words say enough
	if nothing.Effect == mayHaveHappened {
		nothing.Effect = notNow
	}
	return &nothing
}

// Unsure is an error of a request of which an earlier statement was done: whatever the server's words alone would mean,
// it is not one without effect. Errors that no server has sent stay what they are.
func Unsure(err error) error {
	server, ok := errors.AsType[*driver.ServerError](err)
	if !ok || server.Effect == mayHaveHappened {
		return err
	}
	doubtful := *server
	doubtful.Effect = mayHaveHappened
	return &doubtful
}

// GaveUp is why a context has ended: its cause, unless a reader of the error would take that for what the server
// said about the request, or for its never having been sent. The cause of a lease's context is such a one: the server
// no longer has that lock, or was not reached.
func GaveUp(ctx context.Context) error {
	cause := context.Cause(ctx)
	if driver.IsAnswer(cause) || errors.Is(cause, driver.ErrUnsent) {
		return ctx.Err()
	}
	return cause
}
