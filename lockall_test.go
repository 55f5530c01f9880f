package holdfast_test

import (
	"context"
	"errors"
	"net/url"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/memlock"
)

// A nameless driver cannot say which store it is of.
type nameless struct{ driver.Driver }

func (d nameless) Traits() driver.Traits {
	t := d.Driver.Traits()
	t.Store = ""
	return t
}

// byURL are stores that drivers of the scheme lockall: are opened on, by what their hosts say. They cannot name them.
var byURL sync.Map

func init() {
	driver.Register("lockall", func(_ context.Context, u *url.URL) (driver.Driver, error) {
		store, ok := byURL.Load(u.Query().Get("store"))
		if !ok {
			return nil, errors.New("no such store")
		}
		return nameless{store.(*memlock.Driver).Client()}, nil
	})
}

// openAll opens clients by URLs, which lead to a store for each value of the parameter store.
func openAll(t *testing.T, urls ...string) []*holdfast.Client {
	byURL.Clear()
	cs := make([]*holdfast.Client, len(urls))
	for i, u := range urls {
		parsed := must(url.Parse(u))(t)
		byURL.LoadOrStore(parsed.Query().Get("store"), memlock.New())
		c := must(holdfast.Open(t.Context(), u))(t)
		t.Cleanup(func() { c.Close(context.Background()) })
		cs[i] = c
	}
	return cs
}

// Stores are told apart, and one is known through two clients of it.
func TestLockAllKnowsStores(t *testing.T) {
	two := memlock.New()
	for _, row := range []struct {
		name  string
		pair  func(*testing.T) []*holdfast.Client
		wants error // nil: both are locked
	}{
		{"two stores in memory", func(t *testing.T) []*holdfast.Client {
			return []*holdfast.Client{newClient(t, memlock.New()), newClient(t, memlock.New())}
		}, nil},
		{"one of them behind a line", func(t *testing.T) []*holdfast.Client {
			return []*holdfast.Client{newClient(t, overLine(memlock.New())), newClient(t, memlock.New())}
		}, nil},
		{"two clients of one store", func(t *testing.T) []*holdfast.Client {
			return []*holdfast.Client{newClient(t, two.Client()), newClient(t, overLine(two.Client()))}
		}, holdfast.ErrDeadlock},
		{"two clients of one driver that cannot name its store", func(t *testing.T) []*holdfast.Client {
			return []*holdfast.Client{newClient(t, nameless{two}), newClient(t, nameless{two})}
		}, holdfast.ErrDeadlock},
		{"two drivers that cannot name their stores", func(t *testing.T) []*holdfast.Client {
			return []*holdfast.Client{newClient(t, nameless{two.Client()}), newClient(t, nameless{memlock.New()})}
		}, errors.ErrUnsupported},
		{"one that can, and one that cannot", func(t *testing.T) []*holdfast.Client {
			return []*holdfast.Client{newClient(t, memlock.New()), newClient(t, nameless{memlock.New()})}
		}, errors.ErrUnsupported},
		{"URLs that differ in their parameters", func(t *testing.T) []*holdfast.Client {
			return openAll(t, "lockall://host/0?store=a", "lockall://host/0?store=b")
		}, nil},
		{"one URL with two passwords", func(t *testing.T) []*holdfast.Client {
			return openAll(t, "lockall://u:one@host,other?store=a", "lockall://u:two@Other,host?store=a")
		}, holdfast.ErrDeadlock},
		{"one store under two names", func(t *testing.T) []*holdfast.Client {
			return openAll(t, "lockall://localhost?store=a", "lockall://127.0.0.1?store=a")
		}, holdfast.ErrDeadlock},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cs := row.pair(t)
				for range 2 { // in either order
					leases, err := holdfast.LockAll(t.Context(), cs[0].Mutex("m"), cs[1].Mutex("m"))
					if !errors.Is(err, row.wants) || row.wants == nil && len(leases) != 2 {
						t.Errorf("%d leases, %v; want the error %v", len(leases), err, row.wants)
					}
					if err := leases.Release(t.Context()); err != nil {
						t.Error(err)
					}
					for _, c := range cs { // nothing is left
						must(c.Mutex("m").TryLock(t.Context()))(t).Release(t.Context())
					}
					cs[0], cs[1] = cs[1], cs[0]
				}
			})
		})
	}
}

// Whoever locks in two stores does so in the same order, whatever the order given, and whichever was opened first.
func TestLockAllInOneOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const one, two = "lockall://one?store=1", "lockall://two?store=2"
		cs := openAll(t, one, two, two, one)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour) // ends what waits for each other
		defer cancel()
		var wg sync.WaitGroup
		for i := range 40 {
			locks := []holdfast.Locker{cs[i%4].Mutex("m"), cs[(i%4)^1].Mutex("m")}
			wg.Go(func() {
				leases := must(holdfast.LockAll(ctx, locks...))(t)
				time.Sleep(time.Second)
				if err := errors.Join(leases.Err(), leases.Release(t.Context())); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	})
}

// A lock that is lost while the others are waited for ends the wait, and nothing stays behind.
func TestLockAllNoticesLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a, b := twoClients(t)
		must(b.Mutex("z").Lock(t.Context()))(t)
		began := time.Now()
		time.AfterFunc(time.Minute, func() { b.Break(context.Background(), "a", queued(t, b, "a")[0].ID) })
		leases, err := holdfast.LockAll(t.Context(), a.Mutex("a"), a.Mutex("m"), a.Mutex("z"))
		wantErr(t, err, holdfast.ErrLost, holdfast.ErrNotAcquired)
		if late := time.Since(began) - time.Minute; late > time.Second || leases != nil {
			t.Errorf("%d leases, %v after the loss", len(leases), late)
		}
		for _, name := range []string{"a", "m"} {
			must(b.Mutex(name).TryLock(t.Context()))(t)
		}
	})
}

// breaking returns a driver that breaks the lock of one name before it grants the next, and does not heed that the
// caller gave up.
func breaking(d driver.Driver, name string) driver.Driver {
	return onRequests(d, func(ctx context.Context, op driver.Op, next next) driver.Result {
		if op.Claim.Name == name {
			return next(op)
		}
		queue := next(driver.Op{Kind: driver.OpQueue, Claim: driver.Claim{Name: name}})
		for _, e := range queue.Queue {
			if r := next(driver.Op{Kind: driver.OpBreak, Claim: e.Claim}); r.Err != nil {
				return r
			}
		}
		time.Sleep(time.Second)
		return doOne(context.WithoutCancel(ctx), d, op)
	})
}

// What is returned was held when it was returned, though the wait could not be ended.
func TestLockAllLooksAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClient(t, breaking(memlock.New(), "a"))
		_, err := holdfast.LockAll(t.Context(), c.Mutex("a"), c.Mutex("b"))
		wantErr(t, err, holdfast.ErrLost)
	})
}

// What the context holds already makes no circle.
func TestLockAllBesideWhatTheContextHolds(t *testing.T) {
	reentrant := holdfast.WithReentrant()
	for _, row := range []struct {
		name    string
		held    []string
		opts    []holdfast.Option
		refused bool
	}{
		{"the last", []string{"c"}, []holdfast.Option{reentrant}, true},
		{"one in the middle", []string{"b"}, []holdfast.Option{reentrant}, true},
		{"the first and the last", []string{"a", "c"}, []holdfast.Option{reentrant}, true},
		{"the first", []string{"a"}, []holdfast.Option{reentrant}, false},
		{"the first two", []string{"a", "b"}, []holdfast.Option{reentrant}, false},
		{"all", []string{"c", "b", "a"}, []holdfast.Option{reentrant}, false},
		{"another", []string{"z"}, []holdfast.Option{reentrant}, false},
		{"the first, and it is not counted", []string{"a"}, nil, true},
		{"the last, and it is not counted", []string{"c"}, nil, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, a, b := twoClients(t)
				ctx := t.Context()
				var held holdfast.Leases
				for _, name := range row.held {
					held = append(held, must(a.Mutex(name).Lock(ctx))(t))
					ctx = held[len(held)-1].Context()
				}
				other := make(chan error, 1)
				go func() { // it wants the same locks, and has got those before the first that we hold
					leases, err := holdfast.LockAll(t.Context(), b.Mutex("a"), b.Mutex("b"), b.Mutex("c"))
					other <- errors.Join(err, leases.Release(t.Context()))
				}()
				synctest.Wait()
				mutex := func(name string) *holdfast.Mutex { return a.Mutex(name, row.opts...) }
				leases, err := holdfast.LockAll(ctx, mutex("c"), mutex("b"), mutex("a"))
				if row.refused {
					wantErr(t, err, holdfast.ErrDeadlock)
				} else if err := errors.Join(err, leases.Release(t.Context())); err != nil {
					t.Error(err)
				}
				if err := errors.Join(held.Release(t.Context()), <-other); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// What the context holds through another client of the same store makes a circle as well.
func TestLockAllBesideWhatAnotherClientHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cs := openAll(t, "lockall://host?store=a", "lockall://host?store=a")
		held := must(cs[0].Mutex("b").Lock(t.Context()))(t)
		ctx, cancel := context.WithTimeout(held.Context(), time.Hour) // ends a wait for oneself
		defer cancel()
		leases, err := holdfast.LockAll(ctx, cs[1].Mutex("a"), cs[1].Mutex("b"))
		wantErr(t, err, holdfast.ErrDeadlock)
		if err := errors.Join(leases.Release(t.Context()), held.Release(t.Context())); err != nil {
			t.Error(err)
		}
	})
}

// A panic gives back what was got before it.
func TestLockAllAfterPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memlock.New()
		a, b := newClient(t, store), newClient(t, store.Client())
		broken := newClient(t, onRequests(memlock.New(), func(context.Context, driver.Op, next) driver.Result {
			panic("oops")
		}))
		func() {
			defer func() {
				if recover() != "oops" {
					t.Error("the panic was swallowed")
				}
			}()
			holdfast.LockAll(t.Context(), a.Mutex("a"), broken.Semaphore("b", 2).Permits(1))
		}()
		must(b.Mutex("a").TryLock(t.Context()))(t)
	})
}

// Whose context has ended does not wait for a backend that is away; what was got is given back all the same.
func TestLockAllEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cable, a, b := twoClients(t)
		must(b.Mutex("z").Lock(t.Context()))(t)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		time.AfterFunc(time.Minute-time.Second, func() { cable.set(faults{cut: true}) })
		time.AfterFunc(time.Minute+ttl/2, func() { cable.set(faults{}) })
		began := time.Now()
		_, err := holdfast.LockAll(ctx, a.Mutex("a"), a.Mutex("b"), a.Mutex("c"), a.Mutex("z"))
		wantErr(t, err, holdfast.ErrNotAcquired, context.DeadlineExceeded)
		if late := time.Since(began) - time.Minute; late > time.Second {
			t.Errorf("it returned %v after its context ended", late)
		}
		must(holdfast.LockAll(t.Context(), b.Mutex("a"), b.Mutex("b"), b.Mutex("c")))(t)
		if took := time.Since(began) - time.Minute; took > ttl {
			t.Errorf("the others could be had after %v", took)
		}
	})
}

// What is got in vain, whatever ends that, is not kept for its minimum hold.
func TestLockAllInVainHasNoMinimumHold(t *testing.T) {
	for why, end := range map[string]func(t *testing.T, a, b *holdfast.Client, cancel func()) (told error){
		"its context ends": func(_ *testing.T, _, _ *holdfast.Client, cancel func()) error {
			cancel()
			return holdfast.ErrNotAcquired
		},
		"it is broken": func(t *testing.T, _, b *holdfast.Client, _ func()) error {
			b.Break(t.Context(), "n", queued(t, b, "n")[1].ID)
			return holdfast.ErrNotAcquired
		},
		"its client is closed": func(t *testing.T, a, _ *holdfast.Client, _ func()) error {
			if err := a.Close(t.Context()); err != nil {
				t.Error(err)
			}
			return holdfast.ErrClosed
		},
	} {
		t.Run(why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, a, b := twoClients(t)
				must(b.Mutex("n").Lock(t.Context()))(t)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				failed := make(chan error, 1)
				go func() {
					job := a.Mutex("m", holdfast.WithMinHold(time.Hour))
					failed <- second(holdfast.LockAll(ctx, job, a.Mutex("n")))
				}()
				synctest.Wait()
				told := end(t, a, b, cancel)
				wantErr(t, <-failed, told)
				if !isFree(t, b.Mutex("m")) {
					t.Error("the lock that it had is taken")
				}
			})
		})
	}
}

// Whoever waits in LockAll learns that a client is closed, also one that waits at another client.
func TestLockAllDuringClose(t *testing.T) {
	for name, last := range map[string]func(a, b *holdfast.Client) holdfast.Locker{
		"through a gate":    func(a, _ *holdfast.Client) holdfast.Locker { return a.Mutex("n") },
		"by its own claim":  func(a, _ *holdfast.Client) holdfast.Locker { return a.RWMutex("n").Reader() },
		"at another client": func(_, b *holdfast.Client) holdfast.Locker { return b.RWMutex("n").Reader() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, a, b := twoClients(t)
				must(b.Mutex("n").Lock(t.Context()))(t)
				failed := make(chan error, 1)
				go func() { failed <- second(holdfast.LockAll(t.Context(), a.Mutex("m"), last(a, b))) }()
				synctest.Wait()
				a.Close(t.Context())
				wantErr(t, <-failed, holdfast.ErrClosed)
			})
		})
	}
}

// So it is where a client is closed just as the last lock is there.
func TestLockAllWhenClosedAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &closingScope{client: newClient(t, memlock.New())}
		last := newClient(t, memlock.New(), holdfast.WithObserver(s)).Mutex("n")
		err := second(holdfast.LockAll(t.Context(), s.client.Mutex("m"), last))
		wantErr(t, err, holdfast.ErrClosed)
		if !isFree(t, last) {
			t.Error("the last one is taken")
		}
	})
}

// What LockAll returns is kept for its minimum hold, also by Close.
func TestLockAllHasMinimumHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a, b := twoClients(t)
		must(holdfast.LockAll(t.Context(), a.Mutex("m", holdfast.WithMinHold(time.Hour)), a.Mutex("n")))(t)
		a.Close(t.Context())
		if isFree(t, b.Mutex("m")) || !isFree(t, b.Mutex("n")) {
			t.Error("want one that is kept for its minimum hold, and one that is free")
		}
	})
}
