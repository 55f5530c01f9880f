// Package replies has what the errors of a database server mean for a request.
package replies

import (
	"errors"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/dbms"
)

// Explain makes a [driver.ServerError] of what a server sent. Other errors stay what they are, and say nothing twice.
// Of a request that was not sent, as err says, nothing can have happened.
func Explain(err error) error {
	code, said := dbms.Said(err)
	if said == nil {
		return concise(err)
	}
	if isExplained(err) {
		return err
	}
	m := meaningOf(code)
	if m.effect == mayHaveHappened && errors.Is(err, driver.ErrUnsent) {
		m.effect = notNow
	}
	return &driver.ServerError{Effect: m.effect, Words: said.Error(), Advice: m.advice, Err: err}
}

// Refuse is [Explain] for an error that means a refusal, whatever its code says, with advice of its own.
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
