package holdfast_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/boottime"
	"github.com/holdfast-go/holdfast/internal/bubble"
	"github.com/holdfast-go/holdfast/memlock"
)

// A stuck handler takes a log record or an event, and does not return before it is let go.
type stuck struct {
	slog.Handler
	taken chan struct{} // has room for one word
	free  chan struct{}
}

func newStuck() *stuck {
	return &stuck{slog.DiscardHandler, make(chan struct{}, 1), make(chan struct{})}
}

func (s *stuck) block() {
	select {
	case s.taken <- struct{}{}:
	default:
	}
	<-s.free
}

func (s *stuck) Enabled(context.Context, slog.Level) bool  { return true }
func (s *stuck) Handle(context.Context, slog.Record) error { s.block(); return nil }
func (s *stuck) Observe(_ context.Context, e holdfast.Event) {
	if e.Op == holdfast.OpLose {
		s.block()
	}
}

// handlers are the ways to be told of a loss, each stuck.
func handlers(s *stuck) map[string]holdfast.Option {
	return map[string]holdfast.Option{
		"a logger":    holdfast.WithLogger(slog.New(s)),
		"an observer": holdfast.WithObserver(s),
	}
}

// A handler that does not return keeps no other lease from ending in time, and none from being renewed.
func TestStuckHandlerHoldsNothingUp(t *testing.T) {
	for what := range handlers(nil) {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStuck()
				defer close(s.free)
				l, a, b := twoClients(t, handlers(s)[what])
				broken := must(a.Mutex("broken").Lock(t.Context()))(t)
				cut := must(a.Mutex("cut").Lock(t.Context()))(t)
				if err := b.Break(t.Context(), "broken", queued(t, b, "broken")[0].ID); err != nil {
					t.Fatal(err)
				}
				<-s.taken
				wantErr(t, broken.Err(), holdfast.ErrLost)

				time.Sleep(2 * ttl)
				if err := cut.Err(); err != nil {
					t.Errorf("not renewed: %v", err)
				}
				l.set(faults{cut: true})
				start := time.Now()
				must(b.Mutex("cut").Lock(t.Context()))(t)
				if <-cut.Done(); time.Since(start) > ttl {
					t.Errorf("the context lived for %v more", time.Since(start)-ttl)
				}
			})
		})
	}
}

// At the moment in which somebody else is granted the lock, every way of looking says that it is lost.
func TestEveryLookKnowsFirst(t *testing.T) {
	for look, lost := range looks {
		t.Run(look, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, a, b := twoClients(t)
				isLost := lost(t, a)
				time.Sleep(ttl / 5)
				l.set(faults{cut: true})
				must(b.Mutex("m").Lock(t.Context()))(t)
				if !isLost() {
					t.Error("another client has the lock, and it does not show")
				}
			})
		})
	}
}

// looks acquire the lock "m" in the background, and return what reports whether it shows as lost in one way of looking.
var looks = map[string]func(*testing.T, *holdfast.Client) (isLost func() bool){
	"Err": func(t *testing.T, c *holdfast.Client) func() bool {
		lease := must(c.Mutex("m").Lock(t.Context()))(t)
		return func() bool { return errors.Is(lease.Err(), holdfast.ErrLost) }
	},
	"Context.Err": func(t *testing.T, c *holdfast.Client) func() bool {
		ctx := must(c.Mutex("m").Lock(t.Context()))(t).Context()
		return func() bool { return ctx.Err() != nil && errors.Is(context.Cause(ctx), holdfast.ErrLost) }
	},
	"Context.Done": func(t *testing.T, c *holdfast.Client) func() bool {
		ctx := must(c.Mutex("m").Lock(t.Context()))(t).Context()
		return func() bool { return isClosed(ctx.Done()) }
	},
	"Done": func(t *testing.T, c *holdfast.Client) func() bool {
		done := must(c.Mutex("m").Lock(t.Context()))(t).Done()
		return func() bool { return isClosed(done) }
	},
	"a context made from Context": func(t *testing.T, c *holdfast.Client) func() bool {
		ctx, cancel := context.WithCancel(must(c.Mutex("m").Lock(t.Context()))(t).Context())
		t.Cleanup(cancel)
		return func() bool { return ctx.Err() != nil && errors.Is(context.Cause(ctx), holdfast.ErrLost) }
	},
	"Do": func(t *testing.T, c *holdfast.Client) func() bool {
		inside := make(chan context.Context)
		go c.Mutex("m").Do(t.Context(), func(ctx context.Context, _ *holdfast.Lease) error {
			inside <- ctx
			<-ctx.Done()
			return nil
		})
		ctx := <-inside
		return func() bool { return ctx.Err() != nil && errors.Is(context.Cause(ctx), holdfast.ErrLost) }
	},
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// In the first instruction after a suspension the lease itself knows, and so do its context and Do's, of which no
// goroutine has told them anything; what is only told knows a tick later.
func TestEveryLookAfterSuspension(t *testing.T) {
	for look, lost := range looks {
		t.Run(look, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, a, _ := twoClients(t)
				isLost := lost(t, a)
				time.Sleep(ttl / 5)
				holdfast.Suspend(t, time.Hour)
				if told := look == "Done" || look == "a context made from Context"; told {
					time.Sleep(boottime.Tick)
					synctest.Wait()
				}
				if !isLost() {
					t.Error("it does not show")
				}
			})
		})
	}
}

// The keeper of a client whose machine was suspended wakes by itself, whatever the timers say.
func TestSuspendedClientWakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a, _ := twoClients(t, holdfast.WithTTL(time.Hour))
		done := must(a.Mutex("m").Lock(t.Context()))(t).Done()
		synctest.Wait()
		start := time.Now()
		holdfast.Suspend(t, 2*time.Hour)
		if <-done; time.Since(start) > boottime.Tick {
			t.Errorf("woke after %v", time.Since(start))
		}
	})
}

// A thousand leases that somebody listens to cost no more goroutines than one.
func TestListeningCostsNoGoroutines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a, b := twoClients(t)
		var leases holdfast.Leases
		listen := func(n int) int {
			for len(leases) < n {
				lease := must(a.Mutex(strings.Repeat("n", len(leases)+1)).Lock(t.Context()))(t)
				lease.Context()
				lease.Done()
				lease.Revoked()
				leases = append(leases, lease)
			}
			time.Sleep(ttl / 10) // until the backend was told to tell
			synctest.Wait()
			return bubble.Goroutines()
		}
		one, many := listen(1), listen(1000)
		if many > one {
			t.Errorf("%d goroutines for a thousand leases, %d for one", many, one)
		}

		if err := b.Revoke(t.Context(), leases[7].Name()); err != nil {
			t.Error(err)
		}
		if err := b.Break(t.Context(), leases[8].Name(), queued(t, b, leases[8].Name())[0].ID); err != nil {
			t.Error(err)
		}
		start := time.Now()
		<-leases[7].Revoked()
		<-leases[8].Done()
		if time.Since(start) > 0 || isClosed(leases[9].Revoked()) || leases[9].Err() != nil {
			t.Errorf("told after %v, or the wrong ones", time.Since(start))
		}
	})
}

// While it is being detached a lease has its deadline like any other.
func TestDetachKnowsFirst(t *testing.T) {
	for look, lost := range detachLooks {
		t.Run(look, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, _, b, lease := firstHolds(t)
				ctx := lease.Context()
				time.Sleep(ttl/3 - time.Second)
				l.set(faults{cut: true})
				detached := make(chan error)
				go func() {
					_, err := lease.Detach(context.Background())
					detached <- err
				}()
				must(b.Mutex("m").Lock(t.Context()))(t)
				if !lost(ctx, lease) {
					t.Error("another client has the lock, and it does not show")
				}
				wantErr(t, <-detached, holdfast.ErrLost)
			})
		})
	}
}

var detachLooks = map[string]func(context.Context, *holdfast.Lease) bool{
	"Err": func(_ context.Context, l *holdfast.Lease) bool { return l.Err() != nil },
	"told": func(ctx context.Context, _ *holdfast.Lease) bool {
		return isClosed(ctx.(interface{ Done() <-chan struct{} }).Done())
	},
}

// Detach and what else ends a lease, at the same time: no goroutine of this client is left with a
// hold that nobody renews.
func TestDetachRacesWithItsEnd(t *testing.T) {
	for what, end := range map[string]func(*holdfast.Lease){
		"release":  func(l *holdfast.Lease) { l.Release(context.Background()) },
		"max hold": func(*holdfast.Lease) {}, // at the same time
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, a, _ := twoClients(t)
				var opts []holdfast.Option
				if what == "max hold" {
					opts = append(opts, holdfast.WithMaxHold(ttl/5+time.Second/2))
				}
				lease := must(a.Mutex("m", opts...).Lock(t.Context()))(t)
				visitor := make(chan *holdfast.Lease, 1)
				go func() { visitor <- must(a.Mutex("m").Lock(t.Context()))(t) }()
				time.Sleep(ttl / 5)
				l.set(faults{slow: time.Second})
				var wg sync.WaitGroup
				wg.Go(func() { lease.Detach(t.Context()) })
				wg.Go(func() { time.Sleep(time.Second / 2); end(lease) })
				wg.Wait()
				l.set(faults{})
				next := <-visitor
				time.Sleep(3 * ttl)
				if err := next.Err(); err != nil {
					t.Errorf("the next one's lock is not renewed: %v", err)
				}
				if err := next.Release(t.Context()); err != nil {
					t.Errorf("release: %v", err)
				}
			})
		})
	}
}

// A wish to let go that comes while a renewal is under way, which was answered before, is asked for once more.
func TestRevokedDuringRenewal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, _, b, lease := firstHolds(t)
		revoked := lease.Revoked()
		time.Sleep(ttl/3 - time.Second)
		l.set(faults{slow: 2 * time.Second})
		time.Sleep(2 * time.Second)
		start := time.Now()
		if err := b.Revoke(t.Context(), "m"); err != nil {
			t.Fatal(err)
		}
		if <-revoked; time.Since(start) > ttl/4 {
			t.Errorf("told after %v", time.Since(start))
		}
	})
}

// Where the backend says no more than that, the next renewal is due, which tells the rest.
func TestRevokedWithoutAWord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memlock.New()
		moved := make(chan struct{})
		d := following(store, func(ctx context.Context, _ driver.Claim) (driver.Status, error) {
			select {
			case <-moved:
				return driver.Status{}, nil
			case <-ctx.Done():
				return driver.Status{}, ctx.Err()
			}
		})
		a, b := newClient(t, d), newClient(t, store.Client())
		revoked := must(a.Mutex("m").Lock(t.Context()))(t).Revoked()
		if err := b.Revoke(t.Context(), "m"); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		select {
		case moved <- struct{}{}:
		case <-time.After(ttl):
			t.Fatal("nobody listens")
		}
		<-revoked
		if took := time.Since(start); took > ttl/10 { // the driver is told a moment later to tell
			t.Errorf("its holder was told after %v", took)
		}
	})
}

// The same while Check asks.
func TestRevokedDuringCheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var armed atomic.Bool // the claim is revoked just before the answer comes back, which does not tell of it
		d := onRequests(memlock.New(), func(_ context.Context, op driver.Op, next next) driver.Result {
			r := next(op)
			if armed.CompareAndSwap(true, false) {
				r.Err = next(driver.Op{Kind: driver.OpRevoke, Claim: op.Claim}).Err
			}
			return r
		})
		lease := must(newClient(t, d).Mutex("m").Lock(t.Context()))(t)
		revoked := lease.Revoked()
		synctest.Wait() // until the client listens
		armed.Store(true)
		if err := lease.Check(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if !isClosed(revoked) {
			t.Error("the holder has not learned of it")
		}
	})
}

// Who waits where nothing can be told asks now and then.
func TestNothingIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memlock.New()
		l := overLine(following(store, func(context.Context, driver.Claim) (driver.Status, error) {
			return driver.Status{}, errors.New("the way by which news come is broken")
		}))
		a, b := newClient(t, l), newClient(t, store.Client())
		lease := must(b.Mutex("m").Lock(t.Context()))(t)
		ctx, cancel := context.WithTimeout(t.Context(), ttl)
		defer cancel()
		_, err := a.Mutex("m").Lock(ctx)
		wantErr(t, err, holdfast.ErrNotAcquired)
		if asked := l.count("request"); asked < 5 || asked > 100 {
			t.Errorf("it asked %d times in %v", asked, ttl)
		}
		lease.Release(t.Context())
	})
}
