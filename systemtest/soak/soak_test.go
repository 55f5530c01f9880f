package soak

import (
	"cmp"
	"flag"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/internal/bubble"
	"github.com/holdfast-go/holdfast/internal/effort"
)

var (
	names = flag.Int("soak.names", 0, "how many names a day has; zero: 120, and a million with"+
		" HOLDFAST_SOAK=1, or 20000 beside the race detector")
	jsonFile = flag.String("soak.json", os.Getenv("HOLDFAST_SOAK_JSON"),
		"a file to write the results to, a line for each store")
)

// stores are all that have a day, by which part it is shorter, because on some each name costs more, and whether they
// have a short one with the usual tests: that of the others is for HOLDFAST_SOAK=1, or -soak.names.
var stores = []struct {
	name   string
	start  func(testing.TB) Store
	part   int
	always bool
	votes  bool // see [drivertest.Harness]
}{
	{name: "Redis", start: Redis, part: 1, always: true},
	{name: "Redlock", start: Redlock, part: 10, votes: true},
	{name: "PostgreSQL", start: Postgres, part: 1, always: true},
	{name: "MariaDB", start: MariaDB, part: 1},
	{name: "SQLite", start: SQLite, part: 10, always: true},
	{name: "etcd", start: Etcd, part: 20},
	{name: "ZooKeeper", start: ZooKeeper, part: 20},
}

// longDay is how many names a long day has. With the race detector most of a day would be spent in clients.
func longDay() int {
	if bubble.Raced {
		return 20_000
	}
	return 1_000_000
}

// A store that has had a long day is as good as new: its locks are free, tokens grow, and the contract holds.
func TestSoak(t *testing.T) {
	if *names == 0 {
		effort.Long(t)
	}
	plan, long := Plan{Names: 120, Cycles: 50, Workers: 4}, effort.IsSoak() || *names > 0
	if long {
		plan = Plan{Names: cmp.Or(*names, longDay()), Cycles: 5000, Workers: 16}
	}
	var mu sync.Mutex
	var results []Result
	t.Run("stores", func(t *testing.T) {
		for _, one := range stores {
			if !long && !one.always {
				continue
			}
			t.Run(one.name, func(t *testing.T) {
				own := plan
				if long {
					own.Names /= one.part
				} else {
					t.Parallel() // what is measured does not matter
				}
				s := one.start(t)
				r := Live(t, s, own)
				if long {
					// Claims outlive a list of a million names, also on a busy machine.
					drivertest.Run(t, drivertest.Harness{
						Open: func(t testing.TB) driver.Driver { return s.Open(t) },
						TTL:  time.Second, Long: 10 * time.Minute, Elects: one.votes,
					})
				}
				mu.Lock()
				defer mu.Unlock()
				results = append(results, r)
			})
		}
	})
	var table strings.Builder
	if err := WriteTable(&table, results); err != nil {
		t.Fatal(err)
	}
	t.Log("\n" + table.String())
	if *jsonFile != "" {
		writeResults(t, results)
	}
}

func writeResults(t *testing.T, results []Result) {
	t.Helper()
	f, err := os.Create(*jsonFile)
	if err != nil {
		t.Fatal(err)
	}
	if err := WriteJSON(f, results); err != nil {
		t.Error(err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}
