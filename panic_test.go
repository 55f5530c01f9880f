package holdfast_test

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/batch"
	"github.com/holdfast-go/holdfast/memlock"
)

// A buggy driver panics once, in an operation of the kind that is armed, before it does its work or after.
type buggy struct {
	driver.Driver
	far   driver.Driver
	late  bool // after the work
	armed atomic.Pointer[string]
}

// These can be armed beside kinds of operations.
const (
	inFollow = "follow" // a request to tell what happens to the claim also once that is granted
	inNews   = "news"   // in telling an event, which the next request about the claim tells with a panic
	inClose  = "close"
)

func newBuggy(d driver.Driver) *buggy {
	p := &buggy{far: d}
	p.Driver = batch.Intercept(d, p.pass)
	return p
}

func (p *buggy) arm(what string) { p.armed.Store(&what) }

// disarm reports whether this is what was armed.
func (p *buggy) disarm(what string) bool {
	armed := p.armed.Load()
	return armed != nil && *armed == what && p.armed.CompareAndSwap(armed, nil)
}

// around panics if this is what was armed, or has after do so.
func (p *buggy) around(what string) (after func()) {
	switch {
	case !p.disarm(what):
		return func() {}
	case !p.late:
		panic(errBug)
	default:
		return func() { panic(errBug) }
	}
}

func (p *buggy) pass(_ context.Context, op driver.Op, next next) driver.Result {
	defer p.around(op.Kind.String())()
	if op.Follow {
		defer p.around(inFollow)()
	}
	return next(op)
}

// Subscribe implements [driver.Driver].
func (p *buggy) Subscribe(tell func(driver.Event)) (stop func()) {
	return p.far.Subscribe(func(e driver.Event) {
		if p.disarm(inNews) {
			e = driver.Event{Name: e.Name, ID: e.ID}
			p.arm(driver.OpRequest.String())
		}
		tell(e)
	})
}

// Close implements [driver.Driver].
func (p *buggy) Close() error {
	defer p.around(inClose)()
	return p.Driver.Close()
}

var errBug = errors.New("a bug")

// isBug reports whether a panic is that of the driver, or tells of it.
func isBug(what any) bool {
	err, ok := what.(error)
	return ok && errors.Is(err, errBug)
}

// caught calls f, which must panic, or end its goroutine, and returns with what.
func caught(t *testing.T, f func()) (what any) {
	t.Helper()
	over := make(chan struct{})
	returned := false
	go func() {
		defer close(over)
		defer func() { what = recover() }()
		f()
		returned = true
	}()
	<-over
	if returned {
		t.Error("it returned, so a panic did not go on up")
	}
	return what
}

// ways are kinds of locks that are acquired in different ways: through the gate, with a claim of their own, by Do.
var ways = map[string]func(context.Context, *holdfast.Client) error{
	"through the gate": func(ctx context.Context, c *holdfast.Client) error { return second(c.Mutex("m").Lock(ctx)) },
	"as a try": func(ctx context.Context, c *holdfast.Client) error {
		return second(c.Mutex("m").TryLock(ctx))
	},
	"in strict order": func(ctx context.Context, c *holdfast.Client) error {
		return second(c.Mutex("m", holdfast.WithLocalHandoff(0)).Lock(ctx))
	},
	"for a minimum hold": func(ctx context.Context, c *holdfast.Client) error {
		return second(c.Mutex("m", holdfast.WithMinHold(time.Hour)).Lock(ctx))
	},
	"as a writer": func(ctx context.Context, c *holdfast.Client) error { return second(c.RWMutex("m").Lock(ctx)) },
	"by Do": func(ctx context.Context, c *holdfast.Client) error {
		return c.Mutex("m").Do(ctx, func(context.Context, *holdfast.Lease) error { return nil })
	},
}

// A panic of the driver in an acquisition goes on up, and leaves neither a claim nor a gate that nobody opens.
func TestPanicOfTheDriverWhileAcquiring(t *testing.T) {
	for way, acquire := range ways {
		for _, late := range []bool{false, true} {
			t.Run(way, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					store := memlock.New()
					d := newBuggy(store.Client())
					d.late = late
					a, b := newClient(t, d), newClient(t, store.Client())
					d.arm("request")
					if what := caught(t, func() { acquire(t.Context(), a) }); what != errBug {
						t.Errorf("the panic became %v", what)
					}
					synctest.Wait()
					noneQueued(t, b, "m")
					if err := acquire(t.Context(), a); err != nil {
						t.Errorf("acquiring after it: %v", err)
					}
				})
			})
		}
	}
}

// The same of who waits, and is told to ask.
func TestPanicOfTheDriverWhileWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memlock.New()
		d := newBuggy(following(store.Client(), askNowAndThen))
		a, b := newClient(t, d), newClient(t, store.Client())
		lease := must(b.RWMutex("m").Lock(t.Context()))(t)
		d.arm(inNews)
		if what := caught(t, func() { a.RWMutex("m").RLock(t.Context()) }); !isBug(what) {
			t.Errorf("the panic became %v", what)
		}
		synctest.Wait()
		if q := queued(t, b, "m"); len(q) != 1 {
			t.Errorf("%d claims, want the holder's", len(q))
		}
		if err := lease.Release(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// A release in which the driver panics is not reported as one that worked, and is repeated in the background.
func TestPanicOfTheDriverWhileReleasing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memlock.New()
		d := newBuggy(store.Client())
		a, b := newClient(t, d), newClient(t, store.Client())
		lease := must(a.Mutex("m").Lock(t.Context()))(t)
		got := make(chan *holdfast.Lease, 1)
		go func() { got <- must(b.Mutex("m").Lock(t.Context()))(t) }()
		synctest.Wait()
		d.arm("release")
		if what := caught(t, func() { lease.Release(t.Context()) }); what != errBug {
			t.Errorf("the panic became %v", what)
		}
		wantErr(t, lease.Release(t.Context()), holdfast.ErrUnknown)
		synctest.Wait()
		select {
		case next := <-got:
			next.Release(t.Context())
		default:
			t.Error("the lock is taken, and nobody holds it")
		}
		must(a.Mutex("m").Lock(t.Context()))(t)
	})
}

// A panicking observer panics at what it sees of one kind.
type panickingObserver struct{ at holdfast.Op }

func (o *panickingObserver) Observe(_ context.Context, e holdfast.Event) {
	if e.Op == o.at {
		panic(errBug)
	}
}

// When an observer panics, nobody has the lock, and the panic goes on up.
func TestPanicOfTheObserver(t *testing.T) {
	for way, acquire := range ways {
		for _, op := range []holdfast.Op{holdfast.OpAcquire, holdfast.OpRelease} {
			if op == holdfast.OpRelease && way != "by Do" {
				continue // the others do not release
			}
			t.Run(string(op)+" "+way, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					store := memlock.New()
					a := newClient(t, store.Client(), holdfast.WithObserver(&panickingObserver{op}))
					if what := caught(t, func() { acquire(t.Context(), a) }); what != errBug {
						t.Errorf("the panic became %v", what)
					}
					if q := queued(t, newClient(t, store.Client()), "m"); len(q) != 0 {
						t.Errorf("%d claims are left", len(q))
					}
				})
			})
		}
	}
}

// However the work under Do ends, the lock is given back.
func TestPanicUnderDo(t *testing.T) {
	for name, end := range map[string]func(){"panic": func() { panic(errBug) }, "Goexit": runtime.Goexit} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, a, b := twoClients(t)
				work := func(context.Context, *holdfast.Lease) error { end(); return nil }
				for kind, do := range map[string]func(){
					"mutex":     func() { a.Mutex("m").Do(t.Context(), work) },
					"reader":    func() { a.RWMutex("m").RDo(t.Context(), work) },
					"semaphore": func() { a.Semaphore("m", 3).Do(t.Context(), 2, work) },
					"election":  func() { a.Election("m").Run(t.Context(), "a", work) },
				} {
					if what := caught(t, do); name == "panic" && what != errBug {
						t.Errorf("%s: the panic became %v", kind, what)
					}
					if q := queued(t, b, "m"); len(q) != 0 {
						t.Errorf("%s: %d claims are left", kind, len(q))
					}
				}
			})
		})
	}
}

// A panic in the release of one of several leases leaves none of the others held.
func TestPanicInOneOfSeveralReleases(t *testing.T) {
	for what, release := range map[string]func(context.Context, holdfast.Leases){
		"Release": func(ctx context.Context, ls holdfast.Leases) { ls.Release(ctx) },
		"Do": func(ctx context.Context, ls holdfast.Leases) {
			ls.Do(ctx, func(context.Context, holdfast.Leases) error { return nil })
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			store := memlock.New()
			a := newClient(t, store.Client(), holdfast.WithObserver(&panickingObserver{holdfast.OpRelease}))
			ls := must(holdfast.LockAll(t.Context(), a.Mutex("m"), a.Mutex("n"), a.Mutex("o")))(t)
			if bug := caught(t, func() { release(t.Context(), ls) }); bug != errBug {
				t.Errorf("%s: the panic became %v", what, bug)
			}
			for _, name := range []string{"m", "n", "o"} {
				if q := queued(t, newClient(t, store.Client()), name); len(q) != 0 {
					t.Errorf("%s: %d claims on %s are left", what, len(q), name)
				}
			}
		})
	}
}

// An observer that panics when a lock is resumed leaves it to nobody.
func TestPanicOfTheObserverInResume(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memlock.New()
		first := newClient(t, store.Client())
		handle := must(must(first.Mutex("m").Lock(t.Context()))(t).Detach(t.Context()))(t)
		a := newClient(t, store.Client(), holdfast.WithObserver(&panickingObserver{holdfast.OpAcquire}))
		if bug := caught(t, func() { a.Resume(t.Context(), handle) }); bug != errBug {
			t.Errorf("the panic became %v", bug)
		}
		if q := queued(t, first, "m"); len(q) != 0 {
			t.Errorf("%d claims are left", len(q))
		}
	})
}
