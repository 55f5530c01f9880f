package leased_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/internal/bubble"
	"github.com/holdfast-go/holdfast/internal/effort"
	"github.com/holdfast-go/holdfast/internal/leased"
)

var (
	likeEtcd      = kind{moves: true, partial: true}
	likeZooKeeper = kind{ordered: true, room: 8}
)

// slow is a store as it is over a network.
var slow = faults{latency: 2 * time.Millisecond, watchDelay: 20 * time.Millisecond, apart: true, gaps: 0.1}

// The whole contract, over stores that are as unlike each other as etcd and ZooKeeper.
func TestEngine(t *testing.T) {
	effort.Raced(t)
	for _, row := range []struct {
		name   string
		kind   kind
		faults faults
	}{
		{"like etcd", likeEtcd, faults{}},
		{"like ZooKeeper", likeZooKeeper, faults{}},
		{"like etcd, slow", likeEtcd, slow},
		{"like ZooKeeper, slow", likeZooKeeper, slow},
	} {
		t.Run(row.name, func(t *testing.T) { drivertest.Run(t, harness(row.kind, row.faults)) })
	}
}

// The engine answers as memlock does, whatever is done in whatever order.
func TestEngineModel(t *testing.T) {
	effort.Raced(t)
	for _, row := range []struct {
		name string
		kind kind
	}{{"like etcd", likeEtcd}, {"like ZooKeeper", likeZooKeeper}} {
		t.Run(row.name, func(t *testing.T) {
			drivertest.RunModel(t, harness(row.kind, faults{}), effort.Pick(100, 50_000))
		})
	}
}

func harness(k kind, f faults) drivertest.Harness {
	return drivertest.Harness{
		Virtual: func() func(testing.TB) driver.Driver {
			w := newWorld(k, f, rand.New(rand.NewPCG(rand.Uint64(), 0)))
			return func(t testing.TB) driver.Driver {
				d := leased.New(w.client())
				t.Cleanup(func() {
					d.Close()
					w.mu.Lock()
					defer w.mu.Unlock()
					for _, what := range w.broken {
						t.Error(what)
					}
				})
				return d
			}
		},
	}
}

// opened returns an engine on a store, and a function that has one operation on each of n locks done together.
func opened(t *testing.T, k kind) (s *memStore, together func(n int, op driver.Op) []driver.Result) {
	s = newWorld(k, faults{}, rand.New(rand.NewPCG(1, 1))).client()
	d := leased.New(s)
	t.Cleanup(func() { d.Close() })
	d.Subscribe(func(driver.Event) {})
	return s, func(n int, op driver.Op) []driver.Result {
		batch, results := make([]driver.Op, n), make([]driver.Result, n)
		for i := range batch {
			batch[i] = op
			batch[i].Claim.Name, batch[i].Claim.ID = fmt.Sprint("m", i), fmt.Sprint(op.Claim.ID, i)
		}
		d.Do(context.Background(), batch, func(i int, r driver.Result) { results[i] = r })
		return results
	}
}

// A batch of operations that nobody contends for is one call of the store each, however large it is.
func TestBatchIsOneCall(t *testing.T) {
	effort.Raced(t)
	for _, k := range []kind{{moves: true, partial: true}, {ordered: true}} {
		synctest.Test(t, func(t *testing.T) {
			s, together := opened(t, k)
			c := driver.Claim{ID: "first", Weight: 1, Limit: 1, TTL: time.Minute, Queue: true}
			op := driver.Op{Kind: driver.OpRequest, Claim: c}
			together(1, op) // begins the session
			for _, kind := range []driver.Kind{driver.OpRequest, driver.OpRequest, driver.OpRelease} {
				op.Kind, op.Claim.ID = kind, "held"
				before := s.applies
				for _, r := range together(40, op) {
					if r.Err != nil || kind != driver.OpRelease && r.Status.Token == 0 {
						t.Errorf("%v: %+v", kind, r)
					}
				}
				if calls := s.applies - before; calls != 1 {
					t.Errorf("%v of 40 claims took %d calls", kind, calls)
				}
			}
		})
	}
}

// Nothing runs for a claim that waits.
func TestNothingRunsForWaiters(t *testing.T) {
	effort.Raced(t)
	for _, k := range []kind{{moves: true, partial: true}, {ordered: true}} {
		synctest.Test(t, func(t *testing.T) {
			_, together := opened(t, k)
			c := driver.Claim{ID: "first", Weight: 1, Limit: 1, TTL: time.Minute, Queue: true}
			wait := func(id string, n int) {
				c.ID = id
				for _, r := range together(n, driver.Op{Kind: driver.OpRequest, Claim: c}) {
					if r.Err != nil || r.Status.Granted == (id == "waiting") {
						t.Errorf("%+v", r)
					}
				}
				synctest.Wait()
			}
			wait("holding", 500)
			before := bubble.Goroutines()
			wait("waiting", 500)
			if more := bubble.Goroutines() - before; more > 0 {
				t.Errorf("%d goroutines more for 500 claims that wait", more)
			}
		})
	}
}
