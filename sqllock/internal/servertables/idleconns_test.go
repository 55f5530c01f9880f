package servertables

import (
	"context"
	"testing"
)

// Who waits again uses a connection that was used a moment ago, if it is the only one, too, and each is one waiter's.
func TestIdleConnectionsAreUsedAgain(t *testing.T) {
	opened := new(conn)
	idle := idleConns{open: func(context.Context) (*conn, error) { return opened, nil }}
	first, second := new(conn), new(conn)
	for range 2 {
		for _, want := range [][]*conn{{first}, {second, first}} {
			for i := range want {
				idle.take(want[len(want)-1-i])
			}
			for _, c := range append(want, opened) {
				if got, err := idle.give(t.Context()); err != nil || got != c {
					t.Errorf("got %p, %v; want %p of %p, %p and a new one %p", got, err, c, first, second, opened)
				}
			}
		}
	}
}
