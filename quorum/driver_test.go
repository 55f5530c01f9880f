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

// The contract, over nodes in memory. Package systemtest/redlock runs it over Redis servers.
func TestDriver(t *testing.T) {
	effort.Raced(t)
	for _, n := range []int{3, 4, 5} {
		t.Run(fmt.Sprintf("%d nodes", n), func(t *testing.T) {
			drivertest.Run(t, drivertest.Harness{Virtual: func() func(testing.TB) driver.Driver {
				stores := make([]*memlock.Driver, n)
				for i := range stores {
					stores[i] = memlock.New()
				}
				return func(t testing.TB) driver.Driver {
					nodes := make([]driver.Driver, n)
					for i, s := range stores {
						nodes[i] = old{s.Client()}
					}
					return quorumOf(t, nodes, nil)
				}
			}})
		})
	}
}

func quorumOf(t testing.TB, nodes []driver.Driver, opts *quorum.Options) *quorum.Driver {
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
