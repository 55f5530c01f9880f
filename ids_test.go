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

// A listing driver lists the IDs that were requested.
type listing struct {
	driver.Driver
	mu  sync.Mutex
	ids []string
}

func (l *listing) Request(ctx context.Context, c driver.Claim) (driver.Status, error) {
	l.mu.Lock()
	if !slices.Contains(l.ids, c.ID) {
		l.ids = append(l.ids, c.ID)
	}
	l.mu.Unlock()
	return l.Driver.Request(ctx, c)
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
		l := &listing{Driver: memlock.New()}
		c := holdfast.New(l)
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
		l := &listing{Driver: memlock.New()}
		c := holdfast.New(l)
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
		slow := &slowDriver{Driver: memlock.New(), takes: 10 * time.Millisecond}
		c := holdfast.New(slow)
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

// A slowDriver takes its time to answer a request.
type slowDriver struct {
	driver.Driver
	takes time.Duration
}

func (s *slowDriver) Request(ctx context.Context, c driver.Claim) (driver.Status, error) {
	if err := driver.Sleep(ctx, s.takes); err != nil {
		return driver.Status{}, err
	}
	return s.Driver.Request(ctx, c)
}
