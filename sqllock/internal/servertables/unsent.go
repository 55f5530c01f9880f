package servertables

import (
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/sqllock/internal/replies"
)

// unsent marks an error of a request of which nothing came.
var unsent = replies.Unsent

// isUnsent reports whether an error says that the connection had been lost before the statement was sent, or that the
// statement could not be prepared.
func isUnsent(err error) bool {
	return errors.Is(err, sqldriver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) || errors.Is(err, driver.ErrUnsent)
}
