package driver

import "cmp"

// An Effect says whether a server that answered with an error may have done what it was asked for all the same. Each
// driver has one table from its server's codes to effects. A code that is not in the table has the zero value, which
// is the safe one.
type Effect int

const (
	// MayHaveHappened: the outcome is unknown, as after no answer at all. Examples: the server timed out while it
	// committed, or its leader was lost.
	MayHaveHappened Effect = iota
	// NotNow: nothing was done, and the same request may succeed later. Examples: the server is full, or is still
	// starting.
	NotNow
	// Refused: nothing was done, and the same request will be refused again. Examples: a wrong password, a missing
	// right.
	Refused
)

// A ServerError is an error that a server sent as its answer. It keeps the server's words, so that nobody mistakes an
// answer for silence. It matches [ErrRefused] if its Effect is Refused, and [ErrUnsent] if that is NotNow.
type ServerError struct {
	Effect Effect // whether the server may have done what it was asked for
	Words  string // what the server said, in its own words and with its code; never a password
	Who    string // who said it, where that is not a server, as "SQLite"
	Advice string // what the user can do about it; "" if the words say it
	Err    error  // the client library's error, for errors.As; may be nil
}

func (e *ServerError) Error() string {
	s := cmp.Or(e.Who, "the server") + " answered: " + e.Words
	if e.Advice != "" {
		s += " (" + e.Advice + ")"
	}
	return s
}

// Is reports whether target is the error that callers decide with for this Effect.
func (e *ServerError) Is(target error) bool {
	switch e.Effect {
	case Refused:
		return target == ErrRefused
	case NotNow:
		return target == ErrUnsent
	default:
		return false
	}
}

func (e *ServerError) Unwrap() error { return e.Err }
