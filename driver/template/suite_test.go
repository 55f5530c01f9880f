package template_test

import (
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/driver/template"
	"github.com/holdfast-go/holdfast/internal/effort"
)

// slow is a store as it is over a network, where answers come from another time than calls.
var slow = faults{latency: 2 * time.Millisecond, conflict: 0.05, watchDelay: 20 * time.Millisecond}

// The whole contract, over a store that answers at once, and over one that is slow. An author's test has one such call
// of Run, with what opens a client of a real server as Open in place of Virtual.
func TestDriver(t *testing.T) {
	effort.Raced(t)
	for _, row := range []struct {
		name            string
		faults          faults
		alone, inFlight int
	}{
		{"at once", faults{}, 0, 0},
		{"slow", slow, 0, 0},
		{"slow and gathered", slow, 1, 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			var stores sync.Map
			drivertest.Run(t, drivertest.Harness{
				Virtual: func() func(testing.TB) driver.Driver {
					s := newStore(row.faults, rand.New(rand.NewPCG(rand.Uint64(), 0)))
					stores.Store(s, true)
					return func(t testing.TB) driver.Driver {
						f := drivertest.Gather(template.New(s), row.alone, row.inFlight)
						t.Cleanup(func() { f.Close() })
						return f
					}
				},
				Spoil: func(t testing.TB, name string) {
					key := "holdfast/" + driver.EncodeName(name, 200)
					found := false
					stores.Range(func(s, _ any) bool {
						found = s.(*memStore).overwrite(key, func([]byte) []byte { return []byte("spoilt") })
						return !found
					})
					if !found {
						t.Errorf("no store has the key %s", key)
					}
				},
			})
		})
	}
}
