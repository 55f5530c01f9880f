package holdfast_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/batch"
	"github.com/holdfast-go/holdfast/memlock"
)

// tries are the ways to take a lock without a wait.
var tries = map[string]func(*holdfast.Client, context.Context) (*holdfast.Lease, error){
	"TryLock": func(c *holdfast.Client, ctx context.Context) (*holdfast.Lease, error) {
		return c.Mutex("m").TryLock(ctx)
	},
	"TryLock without a gate": func(c *holdfast.Client, ctx context.Context) (*holdfast.Lease, error) {
		return c.Mutex("m", holdfast.WithLocalHandoff(0)).TryLock(ctx)
	},
	"TryLock with another TTL": func(c *holdfast.Client, ctx context.Context) (*holdfast.Lease, error) {
		return c.Mutex("m", holdfast.WithTTL(2*ttl)).TryLock(ctx)
	},
	"TryRLock": func(c *holdfast.Client, ctx context.Context) (*holdfast.Lease, error) {
		return c.RWMutex("m").TryRLock(ctx)
	},
}

// A caller that has waited in vain is not in its own way: the lock is free for it once it is free, however long it
// takes to take its abandoned claim back.
func TestAbandonedClaimIsNotInTheWay(t *testing.T) {
	waits := map[string]func(*holdfast.Client, context.Context) (*holdfast.Lease, error){
		"Lock": func(c *holdfast.Client, ctx context.Context) (*holdfast.Lease, error) {
			return c.Mutex("m").Lock(ctx)
		},
		"Lock without a gate": func(c *holdfast.Client, ctx context.Context) (*holdfast.Lease, error) {
			return c.Mutex("m", holdfast.WithLocalHandoff(0)).Lock(ctx)
		},
		"writer": func(c *holdfast.Client, ctx context.Context) (*holdfast.Lease, error) {
			return c.RWMutex("m").Lock(ctx)
		},
	}
	for waited, wait := range waits {
		for tried, try := range tries {
			t.Run(waited+", then "+tried, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					l, a, b := twoClients(t)
					l.set(faults{slow: time.Millisecond})
					for range 20 {
						lease := must(b.RWMutex("m").Lock(t.Context()))(t)
						ctx, cancel := context.WithTimeout(t.Context(), time.Second)
						if _, err := wait(a, ctx); !errors.Is(err, holdfast.ErrNotAcquired) {
							t.Fatal(err)
						}
						cancel()
						lease.Release(t.Context())
						must(try(a, t.Context()))(t).Release(t.Context())
					}
				})
			})
		}
	}
}

// A lock that was granted to a claim which nobody waits for any more is free again for its own client.
func TestUnwantedGrantIsNotInTheWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a, b := twoClients(t)
		for range 100 {
			lease := must(b.Mutex("m").Lock(t.Context()))(t)
			ctx, cancel := context.WithCancel(t.Context())
			left := make(chan *holdfast.Lease)
			go func() {
				lease, _ := a.Mutex("m").Lock(ctx)
				left <- lease
			}()
			synctest.Wait()
			go lease.Release(t.Context()) // at the same time
			cancel()
			if lease := <-left; lease != nil {
				lease.Release(t.Context())
			}
			if err := lease.Release(t.Context()); err != nil {
				t.Fatal(err)
			}
			must(a.Mutex("m").TryLock(t.Context()))(t).Release(t.Context())
		}
	})
}

// A holder that learns of a loss may try at once: what is left of its claim is taken back first.
func TestLostClaimIsNotInTheWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, a, b, lease := firstHolds(t)
		done := lease.Done()
		l.set(faults{cut: true})
		time.Sleep(time.Until(lease.ValidUntil()) - time.Millisecond)
		l.set(faults{late: 10 * time.Millisecond}) // of which no renewal that hangs learns
		if len(queued(t, b, "m")) != 1 {
			t.Fatal("the claim has ended, so this tries nothing")
		}
		<-done
		synctest.Wait() // until the claim is on its way back
		l.set(faults{})
		must(a.Mutex("m").TryLock(t.Context()))(t)
	})
}

// The wait for what the client takes back is short, ends with the context and the client, and is for that lock alone.
func TestNobodyWaitsLongForAnUndo(t *testing.T) {
	for name, row := range map[string]struct {
		act  func(t *testing.T, c *holdfast.Client) error
		want error
		most time.Duration
	}{
		"another lock": {func(t *testing.T, c *holdfast.Client) error {
			return second(c.Mutex("n").TryLock(t.Context()))
		}, nil, 0},
		"the undo is not answered": {func(t *testing.T, c *holdfast.Client) error {
			return second(c.Mutex("m").TryLock(t.Context()))
		}, holdfast.ErrNotAcquired, ttl / 6},
		"its context ends": {func(t *testing.T, c *holdfast.Client) error {
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			defer cancel()
			return second(c.Mutex("m").TryLock(ctx))
		}, context.DeadlineExceeded, time.Millisecond},
		"the client ends": {func(t *testing.T, c *holdfast.Client) error {
			time.AfterFunc(time.Millisecond, func() { c.Close(context.Background()) })
			return second(c.Mutex("m").TryLock(t.Context()))
		}, holdfast.ErrClosed, time.Millisecond},
		"a second try": {func(t *testing.T, c *holdfast.Client) error {
			c.Mutex("m").TryLock(t.Context())
			time.Sleep(ttl / 6)
			start := time.Now()
			defer func() {
				if took := time.Since(start); took > 0 {
					t.Errorf("the second try waited for %v", took)
				}
			}()
			return second(c.Mutex("m").TryLock(t.Context()))
		}, holdfast.ErrNotAcquired, ttl},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := memlock.New()
				a, b := newClient(t, deafToReleases(store)), newClient(t, store.Client())
				must(b.Mutex("m").Lock(t.Context()))(t)
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				a.Mutex("m").Lock(ctx)
				start := time.Now()
				err := row.act(t, a)
				if took := time.Since(start); took > row.most || !errors.Is(err, row.want) {
					t.Errorf("%v after %v, want %v within %v", err, took, row.want, row.most)
				}
			})
		})
	}
}

// Others whose waits time out all the time, so that there is always something to take back, keep nobody waiting.
func TestNobodyWaitsForLaterUndoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const slow = 100 * time.Millisecond
		l, a, b := twoClients(t, holdfast.WithLocalHandoff(0))
		must(b.Mutex("m").Lock(t.Context()))(t)
		l.set(faults{slow: slow})
		ctx, stop := context.WithCancel(t.Context())
		var impatient sync.WaitGroup
		for i := range 8 {
			impatient.Go(func() {
				for time.Sleep(time.Duration(i) * slow / 4); ctx.Err() == nil; {
					short, cancel := context.WithTimeout(ctx, 2*slow)
					a.Mutex("m").Lock(short)
					cancel()
				}
			})
		}
		time.Sleep(10 * slow)
		for range 20 {
			start := time.Now()
			_, err := a.Mutex("m").TryLock(t.Context())
			wantErr(t, err, holdfast.ErrNotAcquired)
			if took := time.Since(start); took > 2*slow {
				t.Errorf("TryLock took %v, want %v for what is there, and as much for itself", took, slow)
			}
			time.Sleep(slow / 3)
		}
		stop()
		impatient.Wait()
	})
}

// deafToReleases returns a driver that answers no release.
func deafToReleases(d driver.Driver) driver.Driver {
	return batch.Intercept(d, func(ctx context.Context, op driver.Op, next next) driver.Result {
		if op.Kind != driver.OpRelease {
			return next(op)
		}
		<-ctx.Done()
		return driver.Result{Err: ctx.Err()}
	})
}
