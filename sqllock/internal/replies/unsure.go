package replies

import (
	"errors"

	"github.com/holdfast-go/holdfast/driver"
)

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
