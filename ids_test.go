package holdfast_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/memlock"
)

// A listing lists the IDs that were requested.
type listing struct {
	mu  sync.Mutex
	ids []string
}

func (l *listing) pass(_ context.Context, op driver.Op, next next) driver.Result {
	l.mu.Lock()
	if !slices.Contains(l.ids, op.Claim.ID) {
		l.ids = append(l.ids, op.Claim.ID)
	}
	l.mu.Unlock()
	return next(op)
}

// lock acquires a lock and returns the ID of its claim.
func (l *listing) lock(t *testing.T, m holdfast.Locker) (*holdfast.Lease, string) {
	t.Helper()
	lease, err := m.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return lease, l.ids[len(l.ids)-1]
}

func releaseLease(t *testing.T, lease *holdfast.Lease) {
	t.Helper()
	if err := lease.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// The ID of a claim follows that of the one before on the same lock, if that has ended and lived as long.
func TestIDsOfOneLockAreASeries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &listing{}
		c := holdfast.New(onRequests(memlock.New(), l.pass))
		defer c.Close(t.Context())
		lease, first := l.lock(t, c.Mutex("m"))
		releaseLease(t, lease)
		lease, second := l.lock(t, c.Mutex("m"))
		if want := driver.NextID(first); second != want {
			t.Errorf("after %s comes %s, want %s", first, second, want)
		}
		releaseLease(t, lease)
		for what, other := range map[string]holdfast.Locker{
			"another lock": c.Mutex("n"),
			"another TTL":  c.Mutex("m", holdfast.WithTTL(time.Minute)),
		} {
			lease, id := l.lock(t, other)
			if id == driver.NextID(second) {
				t.Errorf("%s: %s goes on with the series", what, id)
			}
			releaseLease(t, lease)
		}
	})
}

// No ID is used twice, whatever becomes of claims.
func TestNoIDTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &listing{}
		c := holdfast.New(onRequests(memlock.New(), l.pass))
		defer c.Close(t.Context())
		s := c.Semaphore("m", 100).Permits(1)
		var held []*holdfast.Lease
		seen := make(map[string]bool)
		take := func() {
			lease, id := l.lock(t, s)
			if seen[id] {
				t.Errorf("%s is used twice", id)
			}
			seen[id] = true
			held = append(held, lease)
		}
		for range 4 {
			take()
		}
		handle, err := held[0].Detach(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		held = held[1:]
		for range 2 { // both go on with one claim
			lease, err := c.Resume(t.Context(), handle)
			if err != nil {
				t.Fatal(err)
			}
			held = append(held, lease)
		}
		for range 3 {
			for _, lease := range held {
				releaseLease(t, lease)
				take()
				take()
			}
			held = held[len(held)/2:]
		}
	})
}

// Requests that share what bounds them do not share the end of each other's contexts.
func TestContextsEndAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := holdfast.New(onRequests(memlock.New(), func(ctx context.Context, op driver.Op, next next) driver.Result {
			if err := driver.Sleep(ctx, 10*time.Millisecond); err != nil {
				return driver.Result{Err: err}
			}
			return next(op)
		}))
		defer c.Close(t.Context())
		var wg sync.WaitGroup
		for i := range 20 {
			ctx, cancel := context.WithCancel(t.Context())
			wg.Go(func() {
				lease, err := c.Mutex(fmt.Sprint(i)).Lock(ctx)
				if even := i%2 == 0; even != (err != nil) {
					t.Errorf("lock %d, whose context was cancelled: %v, got %v", i, even, err)
				}
				if err == nil {
					releaseLease(t, lease)
				}
			})
			if i%2 == 0 {
				time.AfterFunc(time.Millisecond, cancel)
			} else {
				defer cancel()
			}
		}
		wg.Wait()
	})
}
