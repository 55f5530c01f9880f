package holdfast_test

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/batch"
	"github.com/holdfast-go/holdfast/internal/bubble"
	"github.com/holdfast-go/holdfast/memlock"
)

// attempt is how long a request may go unanswered before it is sent again, with the shared part of it.
const attempt = ttl / 6 * 5 / 4

// Of two clients that resumed one handle, the one that was cut off loses its lease, and the other keeps the lock.
func TestExpiryOfResumedLeaseLeavesTheLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memlock.New()
		cable := overLine(store.Client())
		first, cutOff, goesOn := newClient(t, store.Client()), newClient(t, cable), newClient(t, store.Client())
		lease := must(first.Mutex("m").Lock(t.Context()))(t)
		handle := must(lease.Detach(t.Context()))(t)
		lost := must(cutOff.Resume(t.Context(), handle))(t)
		kept := must(goesOn.Resume(t.Context(), handle))(t)

		cable.set(faults{cut: true})
		<-lost.Done()
		cable.set(faults{})
		time.Sleep(2 * ttl)
		if err := kept.Check(t.Context()); err != nil {
			t.Errorf("another client's loss took the lock away: %v", err)
		}
		if isFree(t, first.Mutex("m")) {
			t.Error("the lock is free while it is held")
		}
	})
}

// A recording notes the claims that a driver is asked for, and those that it is to release.
type recording struct {
	mu                  sync.Mutex
	requested, released []driver.Claim
}

func (r *recording) pass(_ context.Context, op driver.Op, next next) driver.Result {
	r.mu.Lock()
	switch op.Kind {
	case driver.OpRequest:
		r.requested = append(r.requested, op.Claim)
	case driver.OpRelease:
		r.released = append(r.released, op.Claim)
	}
	r.mu.Unlock()
	return next(op)
}

// What is given back in the background is given back under its token once that is known.
func TestUndoNamesTheToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cable := overLine(memlock.New())
		seen := &recording{}
		c := newClient(t, batch.Intercept(cable, seen.pass))
		lease := must(c.Mutex("held").Lock(t.Context()))(t)
		must(newClient(t, cable).Mutex("waited for").Lock(t.Context()))(t)
		ctx, cancel := context.WithCancel(t.Context())
		go c.Mutex("waited for").Lock(ctx)
		synctest.Wait()
		cancel()
		cable.set(faults{cut: true})
		<-lease.Done()
		cable.set(faults{})
		time.Sleep(ttl)
		seen.mu.Lock()
		defer seen.mu.Unlock()
		if len(seen.released) < 2 {
			t.Errorf("%d releases, want one of each claim at least", len(seen.released))
		}
		for _, claim := range seen.released {
			if claim.Token == 0 {
				t.Errorf("%s was given back by its ID alone, though its token was known", claim.Name)
			}
		}
	})
}

// However many leases expire in an outage, few goroutines and requests try to give them back, and for a TTL only.
func TestUndoIsBounded(t *testing.T) {
	for _, row := range []struct {
		name   string
		outage faults
		opts   []holdfast.Option
	}{
		{"requests hang", faults{cut: true}, nil},
		{"requests fail", faults{refuse: errors.New("connection refused")}, nil},
		{"requests are refused", faults{refuse: driver.ErrRefused}, nil},
		{"answers do not come back", faults{mute: true}, nil},
		{"held for long enough", faults{cut: true}, []holdfast.Option{holdfast.WithMaxHold(ttl)}},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const leases = 1000
				l, a, _ := twoClients(t, row.opts...)
				lockMany(t, a, leases)
				before, most := bubble.Goroutines(), 0
				time.Sleep(ttl - time.Second)
				l.set(row.outage)
				for range 3 * int(ttl/time.Second) {
					time.Sleep(time.Second)
					synctest.Wait()
					most = max(most, bubble.Goroutines()-before)
				}
				n := l.count("release")
				if most > 30 || n > leases/2 {
					t.Errorf("%d goroutines and %d releases", most, n)
				}
				time.Sleep(ttl)
				if more := l.count("release") - n; more > 0 {
					t.Errorf("%d releases of claims that have expired", more)
				}
				if err := a.Close(t.Context()); err != nil {
					t.Errorf("nothing is left to be given back: %v", err)
				}
			})
		})
	}
}

// When an outage is over, what expired in it is given back at once, not when its TTL ends.
func TestUndoAfterAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const leases = 1000
		l, a, b := twoClients(t)
		lockMany(t, a, leases)
		l.set(faults{mute: true}) // renewals go on, and nobody here knows
		time.Sleep(ttl * 9 / 10)
		l.set(faults{cut: true})
		time.Sleep(ttl / 2)
		l.set(faults{slow: time.Millisecond})
		time.Sleep(attempt + time.Second)
		for i := range leases {
			if q := queued(t, b, strconv.Itoa(i)); len(q) > 0 {
				t.Fatalf("lock %d of %d is taken for %v more, and nobody holds it", i, leases, q[0].Left)
			}
		}
	})
}

// lockMany locks as many mutexes, and leaves them locked.
func lockMany(t *testing.T, c *holdfast.Client, n int) {
	t.Helper()
	for i := range n {
		must(c.Mutex(strconv.Itoa(i)).Lock(t.Context()))(t)
	}
}
