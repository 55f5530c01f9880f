package driver

import (
	"errors"
	"fmt"
)

// A Wrapper is a driver around another one.
type Wrapper interface {
	Unwrap() Driver
}

// As finds the ability T in d or, through any number of wrappers, in what d wraps.
func As[T any](d Driver) (T, bool) {
	for d != nil {
		if able, ok := d.(T); ok {
			return able, true
		}
		w, ok := d.(Wrapper)
		if !ok {
			break
		}
		d = w.Unwrap()
	}
	var none T
	return none, false
}

// Unsupported is the error for something that a backend cannot do. It wraps [errors.ErrUnsupported].
func Unsupported(t Traits, what string) error {
	return fmt.Errorf("%s: %s: %w", t.Backend, what, errors.ErrUnsupported)
}
