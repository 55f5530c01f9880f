package holdfast_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/memlock"
)

// A request that was applied although its answer was lost is found again by its ID.
func TestLostAnswerIsFoundAgain(t *testing.T) {
	for name, acquire := range map[string]func(*holdfast.Mutex, context.Context) (*holdfast.Lease, error){
		"Lock": (*holdfast.Mutex).Lock, "TryLock": (*holdfast.Mutex).TryLock,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, a, b := twoClients(t)
				l.set(faults{loseReply: 3})
				lease := must(acquire(a.Mutex("m"), t.Context()))(t)
				if q := queued(t, b, "m"); len(q) != 1 {
					t.Errorf("%d claims are queued, want one", len(q))
				}
				if err := lease.Release(t.Context()); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// An acquisition that was never answered is not called taken, and nothing of it stays.
func TestUnansweredAcquisitionIsUndone(t *testing.T) {
	for name, f := range map[string]faults{"applied": {mute: true}, "not applied": {cut: true}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, a, b := twoClients(t)
				l.set(f)
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				_, err := a.Mutex("m").TryLock(ctx)
				wantErr(t, err, holdfast.ErrUnknown, context.DeadlineExceeded)
				if errors.Is(err, holdfast.ErrNotAcquired) {
					t.Errorf("%v says that the lock was taken", err)
				}
				l.set(faults{})
				time.Sleep(ttl / 2)
				noneQueued(t, b, "m")
			})
		})
	}
}

// A waiter that was cut off until its claim expired rejoins at the back with a new ID.
func TestWaiterRejoins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memlock.New()
		l := overLine(store)
		a, b, c := newClient(t, l), newClient(t, store.Client()), newClient(t, store.Client())
		lease := must(b.Mutex("m").Lock(t.Context()))(t)

		var order []string
		var wg sync.WaitGroup
		wait := func(name string, c *holdfast.Client) {
			wg.Go(func() {
				c.Mutex("m").Do(t.Context(), func(context.Context, *holdfast.Lease) error {
					order = append(order, name)
					return nil
				})
			})
			synctest.Wait()
		}
		wait("cut off", a)
		before := queued(t, b, "m")[1].ID
		wait("connected", c)
		l.set(faults{cut: true})
		time.Sleep(ttl + time.Second)
		if q := queued(t, b, "m"); len(q) != 2 {
			t.Errorf("%d claims are queued, want two: the waiter that was cut off is dead", len(q))
		}
		l.set(faults{})
		time.Sleep(ttl)
		if q := queued(t, b, "m"); len(q) != 3 || q[2].ID == before {
			t.Errorf("it did not rejoin at the back with a new ID: %v", q)
		}
		lease.Release(t.Context())
		wg.Wait()
		if len(order) != 2 || order[0] != "connected" {
			t.Errorf("order is %v", order)
		}
	})
}

// A holder that dies costs its TTL and no more.
func TestDeadHolderCostsItsTTL(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, a, b := twoClients(t)
		must(a.Mutex("m").Lock(t.Context()))(t)
		l.set(faults{cut: true})
		start := time.Now()
		must(b.Mutex("m").Lock(t.Context()))(t)
		if took := time.Since(start); took > ttl+100*time.Millisecond {
			t.Errorf("the lock was free after %v, want about %v", took, ttl)
		}
	})
}

func TestCancelledWaitersLeaveNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const waiters = 1000
		store := memlock.New()
		holder := newClient(t, store.Client())
		lease := must(holder.Mutex("m").Lock(t.Context()))(t)
		random := rand.New(rand.NewPCG(1, 2))
		var wg sync.WaitGroup
		for i := range waiters {
			opts := []holdfast.Option{holdfast.WithLocalHandoff(i % 2)} // half of them at the gate, half in the queue
			c := newClient(t, store.Client(), opts...)
			after := time.Duration(random.Int64N(int64(time.Minute)))
			wg.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), after)
				defer cancel()
				if lease, err := c.Mutex("m").Lock(ctx); err == nil {
					lease.Release(ctx)
				} else {
					wantErr(t, err, holdfast.ErrNotAcquired, context.DeadlineExceeded)
				}
			})
		}
		time.Sleep(30 * time.Second)
		lease.Release(t.Context())
		wg.Wait()
		synctest.Wait()
		if q := queued(t, holder, "m"); len(q) != 0 {
			t.Errorf("%d claims are left", len(q))
		}
	})
}

// A waiter whose claim somebody broke does not come back: its Lock says so.
func TestBrokenWaiterLeaves(t *testing.T) {
	for name, lock := range map[string]func(*holdfast.Client, context.Context) (*holdfast.Lease, error){
		"at the gate": func(c *holdfast.Client, ctx context.Context) (*holdfast.Lease, error) {
			return c.Mutex("m").Lock(ctx)
		},
		"reader": func(c *holdfast.Client, ctx context.Context) (*holdfast.Lease, error) {
			return c.RWMutex("m").RLock(ctx)
		},
		"candidate": func(c *holdfast.Client, ctx context.Context) (*holdfast.Lease, error) {
			return c.Election("m").Campaign(ctx, "a")
		},
	} {
		for how, news := range map[string]func(driver.Driver) driver.Driver{
			"told":        func(d driver.Driver) driver.Driver { return d },
			"told to ask": func(d driver.Driver) driver.Driver { return following(d, askNowAndThen) },
			"not told":    func(d driver.Driver) driver.Driver { return untold{d} },
		} {
			t.Run(name+", "+how, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					store := memlock.New()
					a, b := newClient(t, news(store.Client())), newClient(t, store.Client())
					must(b.RWMutex("m").Lock(t.Context()))(t)
					broken := make(chan error, 1)
					go func() { broken <- second(lock(a, t.Context())) }()
					time.Sleep(time.Second)
					if err := b.Break(t.Context(), "m", queued(t, b, "m")[1].ID); err != nil {
						t.Fatal(err)
					}
					time.Sleep(ttl / 2)
					select {
					case err := <-broken:
						wantErr(t, err, holdfast.ErrBroken, holdfast.ErrNotAcquired)
					default:
						t.Error("it still waits")
					}
					if q := queued(t, b, "m"); len(q) != 1 {
						t.Errorf("%d claims are queued, want the holder's", len(q))
					}
				})
			})
		}
	}
}

// A waiter whose claim the backend forgot was not broken: it rejoins.
func TestForgottenWaiterRejoins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := replaceable(memlock.New())
		a, b := newClient(t, d), newClient(t, d)
		must(b.RWMutex("m").Lock(t.Context()))(t)
		got := make(chan *holdfast.Lease, 1)
		go func() { got <- must(a.RWMutex("m").RLock(t.Context()))(t) }()
		time.Sleep(time.Second)
		d.by(memlock.New()) // restarted without its data
		time.Sleep(ttl)
		select {
		case lease := <-got:
			lease.Release(t.Context())
		default:
			t.Error("it waits for a lock that nobody has")
		}
	})
}
