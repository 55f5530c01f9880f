package quorum

import (
	"errors"

	"github.com/holdfast-go/holdfast/driver"
)

// An unsure error is that of nodes that may still do what they were asked for. It has their words, and none of the
// answers of single nodes, which decide nothing.
type unsure struct {
	text   string
	causes error
}

func (u *unsure) Error() string { return u.text }

// As finds what a server has answered, so that nobody takes that for silence.
func (u *unsure) As(target any) bool {
	server, ok := target.(**driver.ServerError)
	if !ok {
		return false
	}
	answered, found := errors.AsType[*driver.ServerError](u.causes)
	if found {
		*server = &driver.ServerError{Words: answered.Words, Advice: answered.Advice, Err: answered.Err}
	}
	return found
}
