package causes_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"
	"testing"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/causes"
)

func TestOf(t *testing.T) {
	refused := func(addr string) error {
		return &causes.Error{Where: addr, Err: fmt.Errorf("open %s: %w", addr, &net.OpError{
			Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED,
		})}
	}
	busy := &driver.ServerError{Words: "BUSY", Advice: "end it"}
	for _, row := range []struct {
		errs []error
		want string
	}{
		{nil, ""},
		{[]error{nil, nil}, ""},
		{[]error{refused("b"), refused("a"), refused("a")}, "a, b: connection refused"},
		{
			[]error{&causes.Error{Where: "a", Err: fmt.Errorf("open a: %w", busy)}, refused("b"), errors.New("more")},
			"a: the server answered: BUSY (end it); b: connection refused; more",
		},
		{[]error{&causes.Error{Where: "a", Err: errors.New("open a: it is closed")}}, "a: it is closed"},
	} {
		got := ""
		if err := causes.Of(row.errs...); err != nil {
			got = err.Error()
		}
		if got != row.want {
			t.Errorf("got %q, want %q", got, row.want)
		}
	}
	if err := causes.Of(refused("a"), context.Canceled); !errors.Is(err, context.Canceled) ||
		!errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("%v does not match what it is made of", err)
	}
}
