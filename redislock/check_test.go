package redislock

import (
	"context"
	"errors"
	"testing"
)

// unknownPrimaries does not know which servers there are.
type unknownPrimaries struct{ Conn }

var errNoPrimaries = errors.New("no node answers")

func (unknownPrimaries) Primaries(context.Context) ([]Conn, error) { return nil, errNoPrimaries }

// Servers that cannot be examined are no healthy ones, though one can listen.
func TestCheckWithoutPrimaries(t *testing.T) {
	listen := func(context.Context, string) error { return nil }
	if found, err := check(t.Context(), unknownPrimaries{}, Options{}, listen); !errors.Is(err, errNoPrimaries) {
		t.Errorf("%+v, %v", found, err)
	}
}
