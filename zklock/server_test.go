package zklock_test

import (
	"context"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/servers"
	"github.com/holdfast-go/holdfast/zklock"
)

// open opens a driver on these servers.
func open(t testing.TB, opts *zklock.Options, addrs ...string) *zklock.Driver {
	t.Helper()
	d, err := zklock.New(addrs, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return d
}

func addrs(ensemble []*servers.Server) (list []string) {
	for _, s := range ensemble {
		list = append(list, s.Addr)
	}
	return list
}

// limit returns a context that ends long after anything should have happened.
func limit(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// opener opens drivers for the suite.
func opener(opts *zklock.Options, addrs ...string) func(testing.TB) driver.Driver {
	return func(t testing.TB) driver.Driver { return open(t, opts, addrs...) }
}
