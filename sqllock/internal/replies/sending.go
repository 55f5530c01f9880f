package replies

import "sync/atomic"

// A Sending is a request as its caller sees it, who may give up before it is sent: then it never is.
type Sending struct{ state atomic.Int32 }

// The states of a sending.
const (
	waits     int32 = iota // for its turn or a connection, or to be made again since the server has undone it
	isSent                 // what became of it is known when it is answered
	abandoned              // it will not be sent
)

// Begin notes that it is about to be sent, unless its caller has given up.
func (s *Sending) Begin() bool { return s.state.CompareAndSwap(waits, isSent) || s.IsSent() }

// IsSent reports whether it may have been sent.
func (s *Sending) IsSent() bool { return s.state.Load() == isSent }

// Undone notes that nothing came of it.
func (s *Sending) Undone() { s.state.CompareAndSwap(isSent, waits) }

// GiveUp reports whether it has not been sent, and will not be.
func (s *Sending) GiveUp() bool { return s.state.CompareAndSwap(waits, abandoned) }
