package replies

import (
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
