package servertables

import (
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"sync/atomic"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/sqllock/internal/replies"
)

// A sending is a request as its caller sees it, who may give up before it is sent: then it never is.
type sending struct{ state atomic.Int32 }

// The states of a sending.
const (
	waits     int32 = iota // for its turn or a connection, or to be made again since the server has undone it
	isSent                 // what became of it is known when it is answered
	abandoned              // it will not be sent
)

// begin notes that it is about to be sent, unless its caller has given up.
func (s *sending) begin() bool { return s.state.CompareAndSwap(waits, isSent) }

// undone notes that nothing came of it.
func (s *sending) undone() { s.state.CompareAndSwap(isSent, waits) }

// giveUp reports whether it has not been sent, and will not be.
func (s *sending) giveUp() bool { return s.state.CompareAndSwap(waits, abandoned) }

// unsent marks an error of a request of which nothing came.
var unsent = replies.Unsent

// isUnsent reports whether an error says that the connection had been lost before the statement was sent, or that the
// statement could not be prepared.
func isUnsent(err error) bool {
	return errors.Is(err, sqldriver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) || errors.Is(err, driver.ErrUnsent)
}
