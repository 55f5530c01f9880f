package redislock

import (
	"errors"

	"github.com/redis/rueidis"
)

// A Guest is a driver in the layout of another library.
//
// Deprecated: it is a [Driver] like any other.
type Guest = Driver

// NewGuest is [New] for the layout of another library.
//
// Deprecated: use New, with [Options.Layout].
func NewGuest(client rueidis.Client, opts *Options) (*Guest, error) {
	if err := checkGuest(opts); err != nil {
		return nil, err
	}
	return New(client, opts)
}

// NewGuestOn is [NewOn] for the layout of another library.
//
// Deprecated: use NewOn, with [Options.Layout].
func NewGuestOn(conn Conn, opts *Options) (*Guest, error) {
	if err := checkGuest(opts); err != nil {
		return nil, err
	}
	return NewOn(conn, opts)
}

// checkGuest refuses the layout of Holdfast: a program that forgot to name the other library's would lock by itself.
func checkGuest(opts *Options) error {
	if opts == nil || opts.Layout == Native {
		return errors.New("options: name the layout of the other library, or use New")
	}
	return nil
}
