// Package causes makes one error of those of several servers: each cause once, with the servers that have it.
package causes

import (
	"errors"
	"net"
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast/driver"
)

// An Error is the error of one server.
type Error struct {
	Where string // the server
	Err   error
}

func (e *Error) Error() string { return e.Where + ": " + e.cause() }
func (e *Error) Unwrap() error { return e.Err }

// cause is the error without what says again which server it is about.
func (e *Error) cause() string {
	if server, ok := errors.AsType[*driver.ServerError](e.Err); ok {
		return server.Error()
	}
	if dial, ok := errors.AsType[*net.OpError](e.Err); ok && dial.Op == "dial" {
		return dial.Err.Error()
	}
	return strings.TrimPrefix(e.Err.Error(), "open "+e.Where+": ")
}

// A List is errors as one, on one line. It matches what any of them matches.
type List []error

// Of returns the errors that are not nil as one, or nil.
func Of(errs ...error) error {
	if l := List(slices.DeleteFunc(slices.Clone(errs), func(err error) bool { return err == nil })); len(l) > 0 {
		return l
	}
	return nil
}

func (l List) Unwrap() []error { return l }

func (l List) Error() string {
	var order []string
	where := make(map[string][]string) // by cause
	for _, err := range l {
		text, at := err.Error(), ""
		if e, ok := err.(*Error); ok {
			text, at = e.cause(), e.Where
		}
		if !slices.Contains(order, text) {
			order = append(order, text)
		}
		if at != "" {
			where[text] = append(where[text], at)
		}
	}
	for i, text := range order {
		if at := where[text]; len(at) > 0 {
			slices.Sort(at)
			order[i] = strings.Join(slices.Compact(at), ", ") + ": " + text
		}
	}
	return strings.Join(order, "; ")
}
