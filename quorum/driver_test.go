package quorum_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/internal/effort"
	"github.com/holdfast-go/holdfast/memlock"
	"github.com/holdfast-go/holdfast/quorum"
)

// The contract, over nodes in memory, by the methods of a driver and behind a Sender. Package systemtest/redlock runs
// it over Redis servers.
func TestDriver(t *testing.T) {
	effort.Raced(t)
	methods := func(_ testing.TB, d *quorum.Driver) driver.Driver { return d }
	sent := func(alone int) func(testing.TB, *quorum.Driver) driver.Driver {
		return func(t testing.TB, d *quorum.Driver) driver.Driver {
			f := drivertest.NewFacade(drivertest.Gather(d, alone, alone))
			t.Cleanup(func() { f.Close() })
			return f
		}
	}
	for _, row := range []struct {
		n   int
		how string
		by  func(testing.TB, *quorum.Driver) driver.Driver
	}{
		{3, "methods", methods}, {4, "methods", methods}, {5, "methods", methods},
		{3, "alone", sent(0)}, {3, "gathered", sent(1)},
	} {
		t.Run(fmt.Sprintf("%d nodes/%s", row.n, row.how), func(t *testing.T) {
			drivertest.Run(t, drivertest.Harness{Virtual: func() func(testing.TB) driver.Driver {
				stores := make([]*memlock.Driver, row.n)
				for i := range stores {
					stores[i] = memlock.New()
				}
				return func(t testing.TB) driver.Driver {
					nodes := make([]driver.Either, row.n)
					for i, s := range stores {
						nodes[i] = old{s.Client()}
					}
					return row.by(t, quorumOf(t, nodes, nil))
				}
			}})
		})
	}
}

func quorumOf(t testing.TB, nodes []driver.Either, opts *quorum.Options) *quorum.Driver {
	t.Helper()
	d, err := quorum.New(nodes, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// old is a store that has run for a day, so that its votes count at once.
type old struct{ *memlock.Driver }

func (o old) Do(ctx context.Context, batch []driver.Op, done func(int, driver.Result)) {
	o.Driver.Do(ctx, batch, func(i int, r driver.Result) {
		r.Life.Age += 24 * time.Hour
		done(i, r)
	})
}
