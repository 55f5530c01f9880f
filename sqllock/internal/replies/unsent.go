package replies

import (
	"errors"
	"fmt"

	"github.com/holdfast-go/holdfast/driver"
)

// Unsent marks an error of a request of which nothing came, whatever the server's words alone would mean.
func Unsent(err error) error {
	if errors.Is(err, driver.ErrUnsent) {
		return err
	}
	unsent := fmt.Errorf("%w: %w", driver.ErrUnsent, err)
	server, ok := errors.AsType[*driver.ServerError](err)
	if !ok {
		return unsent
	}
	nothing := *server
	nothing.Err = unsent // its words say enough
	if nothing.Effect == mayHaveHappened {
		nothing.Effect = notNow
	}
	return &nothing
}
