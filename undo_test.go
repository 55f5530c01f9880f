package holdfast_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/memlock"
)

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

// A recording driver notes the claims that it is to release.
type recording struct {
	driver.Driver
	mu       sync.Mutex
	released []driver.Claim
}

func (r *recording) Release(ctx context.Context, c driver.Claim) error {
	r.mu.Lock()
	r.released = append(r.released, c)
	r.mu.Unlock()
	return r.Driver.Release(ctx, c)
}

func (r *recording) Unwrap() driver.Driver { return r.Driver }

// What is given back in the background is given back under its token once that is known.
func TestUndoNamesTheToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cable := overLine(memlock.New())
		seen := &recording{Driver: cable}
		c := newClient(t, seen)
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
