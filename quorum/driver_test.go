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

// The contract, over nodes in memory, behind a Sender. Package systemtest/redlock runs it over Redis servers.
func TestDriver(t *testing.T) {
	effort.Raced(t)
	for _, row := range []struct {
		n, alone int
		how      string
	}{
		{3, 0, "alone"}, {4, 0, "alone"}, {5, 0, "alone"}, {3, 1, "gathered"},
	} {
		t.Run(fmt.Sprintf("%d nodes/%s", row.n, row.how), func(t *testing.T) {
			drivertest.Run(t, drivertest.Harness{Virtual: func() func(testing.TB) driver.Driver {
				stores := make([]*memlock.Driver, row.n)
				for i := range stores {
					stores[i] = memlock.New()
				}
				return func(t testing.TB) driver.Driver {
					nodes := make([]driver.Driver, row.n)
					for i, s := range stores {
						nodes[i] = old{s.Client()}
					}
					d, err := quorum.New(nodes, nil)
					if err != nil {
						t.Fatal(err)
					}
					f := drivertest.NewFacade(drivertest.Gather(d, row.alone, row.alone))
					t.Cleanup(func() { f.Close() })
					return f
				}
			}})
		})
	}
}

// old is a store that has run for a day, so that its votes count at once.
type old struct{ *memlock.Driver }

func (o old) Do(ctx context.Context, batch []driver.Op, done func(int, driver.Result)) {
	o.Driver.Do(ctx, batch, func(i int, r driver.Result) {
		r.Life.Age += 24 * time.Hour
		done(i, r)
	})
}
