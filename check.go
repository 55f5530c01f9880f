package holdfast

import (
	"context"
	"fmt"

	"github.com/holdfast-go/holdfast/driver"
)

// A Finding is one fact about how a server is set up, with what to do about it. Its Level is driver.Fine, driver.Warning
// when a promise is weaker than it could be, or driver.Unsafe when locks may be lost or held twice.
type Finding = driver.Finding

// Check examines whether the backend is set up so that it keeps the promises of locks, for a program to do at its start
// or in its health check. It takes no lock. The findings are to be read beside an error, too, which says that more could not
// be examined; one that matches [errors.ErrUnsupported], that there is nothing to examine on this backend.
func (c *Client) Check(ctx context.Context) ([]Finding, error) {
	if err := c.closed(); err != nil {
		return nil, c.failure("check", err)
	}
	findings, err := driver.Check(ctx, c.driver)
	if err != nil {
		err = c.failure("check", err)
	}
	return findings, err
}

// failure is the error of an operation on the backend as a whole. It names the backend.
func (c *Client) failure(op string, err error) error {
	return fmt.Errorf("%s %s: %w", op, c.label, err)
}
