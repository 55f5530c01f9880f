package advisory

import (
	"fmt"
	"sync/atomic"

	"github.com/holdfast-go/holdfast/sqllock/internal/replies"
)

// A sending is a request as its caller sees it, who may give up while there is no session for it: then it is never
// sent.
type sending struct{ state atomic.Int32 }

const (
	waits     int32 = iota // for a session
	isSent                 // what became of it is known when it is answered
	abandoned              // it will not be sent
)

// begin notes that it is about to be sent, unless its caller has given up.
func (s *sending) begin() error {
	if s.state.CompareAndSwap(waits, isSent) || s.state.Load() == isSent {
		return nil
	}
	return unsent(errAbandoned)
}

// giveUp reports whether it has not been sent, and will not be.
func (s *sending) giveUp() bool { return s.state.CompareAndSwap(waits, abandoned) }

// errAbandoned is never seen: who gave up has gone.
var errAbandoned = fmt.Errorf("its caller has given up")

// unsent marks an error of a request of which nothing came.
var unsent = replies.Unsent
