// Package replies has what the errors of a database server mean for a request.
package replies

import (
	"errors"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/dbms"
)

// Explain makes a [driver.ServerError] of what a server sent. Other errors stay what they are, and say nothing twice.
// Of a request that was not sent, as err says, nothing can have happened.
func Explain(err error) error { return explain(err, meaningOf) }

// Refuse is [Explain] for an error that means a refusal, whatever its code says, with advice of its own.
func Refuse(err error, advice string) error {
	return explain(err, func(string) meaning { return meaning{effect: refused, advice: advice} })
}

func explain(err error, meaningOf func(code string) meaning) error {
	code, said := dbms.Said(err)
	if said == nil {
		return concise(err)
	}
	if _, explained := errors.AsType[*driver.ServerError](err); explained {
		return err
	}
	m := meaningOf(code)
	if m.effect == mayHaveHappened && errors.Is(err, driver.ErrUnsent) {
		m.effect = notNow
	}
	return &driver.ServerError{Effect: m.effect, Words: said.Error(), Advice: m.advice, Err: err}
}
