// Package replies has what the errors of a database server mean for a request: one table for each kind of server.
package replies

import (
	"errors"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/dbms"
)

// A Reply is what an error of a server means, and what the user can do about it.
type Reply struct {
	Effect driver.Effect
	Advice string // "" if the server's words say it
}

const (
	mayHaveHappened = driver.MayHaveHappened
	notNow          = driver.NotNow
	refused         = driver.Refused
)

// A Table has the replies of one kind of server by their codes. What is not in it may have happened.
type Table map[string]Reply

// classLength is the length of the part of an SQLSTATE that names its class.
const classLength = 2

// of finds the reply for a code: its own, or that of its class.
func (t Table) of(code string) Reply {
	if r, ok := t[code]; ok {
		return r
	}
	return t[code[:min(len(code), classLength)]]
}

// Explain makes a [driver.ServerError] of what a server sent. Other errors stay what they are, and say nothing twice.
// Of a request that was not sent, as err says, nothing can have happened.
func (t Table) Explain(err error) error {
	code, said := dbms.Said(err)
	if said == nil {
		return concise(err)
	}
	if isExplained(err) {
		return err
	}
	r := t.of(code)
	if r.Effect == mayHaveHappened && errors.Is(err, driver.ErrUnsent) {
		r.Effect = notNow
	}
	return &driver.ServerError{Effect: r.Effect, Words: said.Error(), Advice: r.Advice, Err: err}
}

// Refuse is [Table.Explain] for an error that means a refusal, whatever the table says, with advice of its own.
func Refuse(err error, advice string) error {
	_, said := dbms.Said(err)
	if said == nil || isExplained(err) {
		return err
	}
	return &driver.ServerError{Effect: refused, Words: said.Error(), Advice: advice, Err: err}
}

func isExplained(err error) bool {
	_, explained := errors.AsType[*driver.ServerError](err)
	return explained
}
