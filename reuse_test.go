package holdfast_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/batch"
	"github.com/holdfast-go/holdfast/memlock"
)

// cycles locks and releases m so many times, and fails unless the tokens grow.
func cycles(t *testing.T, m *holdfast.Mutex, n int) (last uint64) {
	t.Helper()
	for range n {
		lease := must(m.Lock(t.Context()))(t)
		if lease.Token() <= last {
			t.Fatalf("token %d after %d", lease.Token(), last)
		}
		last = lease.Token()
		if err := lease.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	return last
}

// A lock that only one client takes costs nothing after the first time, until its time is over.
func TestReuse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, a, b := twoClients(t)
		m := a.Mutex("m", holdfast.WithReuse(time.Minute))
		last := cycles(t, m, 1000)
		if lease := must(m.TryLock(t.Context()))(t); lease.Token() <= last {
			t.Errorf("token %d after %d", lease.Token(), last)
		} else if err := lease.Release(t.Context()); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if n := l.count("request") + l.count("release"); n != 1 {
			t.Errorf("%d requests and releases, want 1", n)
		}
		if n := l.count("renew"); n > 2 {
			t.Errorf("%d renewals, want one that asks who waits", n)
		}
		_, err := b.Mutex("m").TryLock(t.Context())
		wantErr(t, err, holdfast.ErrNotAcquired)
		if s := a.Stats(); s.Held != 1 {
			t.Errorf("%d locks held, want the one that is kept", s.Held)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		noneQueued(t, b, "m")
	})
}

// The time counts from the first release, however often the lock is taken after it.
func TestReuseEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, a, _ := twoClients(t)
		m := a.Mutex("m", holdfast.WithReuse(time.Second))
		for range 99 {
			cycles(t, m, 1)
			time.Sleep(10 * time.Millisecond)
		}
		if n := l.count("request"); n != 1 {
			t.Errorf("%d requests within the time", n)
		}
		lease := must(m.Lock(t.Context()))(t)
		time.Sleep(20 * time.Millisecond)
		synctest.Wait()
		if err := lease.Err(); err != nil {
			t.Errorf("the time has ended what is in use: %v", err)
		}
		lease.Release(t.Context())
		noneQueued(t, a, "m")
	})
}

// A claim serves as many grants as its token has room for, and is followed by another.
func TestReuseBeyondTheTokensOfAClaim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, a, _ := twoClients(t)
		cycles(t, a.Mutex("m", holdfast.WithReuse(time.Hour)), 3000)
		if n := l.count("request"); n != 3 {
			t.Errorf("%d requests for 3,000 grants", n)
		}
	})
}

// A client that queues elsewhere gets a lock at once that is kept and that nobody has.
func TestReuseYields(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a, b := twoClients(t)
		for range 3 {
			last := cycles(t, a.Mutex("m", holdfast.WithReuse(time.Hour)), 10)
			synctest.Wait()
			began := time.Now()
			lease := must(b.Mutex("m").Lock(t.Context()))(t)
			if took := time.Since(began); took > 0 {
				t.Errorf("it took %v", took)
			}
			if lease.Token() <= last {
				t.Errorf("token %d after %d", lease.Token(), last)
			}
			lease.Release(t.Context())
		}
	})
}

// So it does where the other queues before the owner has begun to look out.
func TestReuseYieldsFromTheBeginning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a, b := twoClients(t)
		lease := must(a.Mutex("m", holdfast.WithReuse(time.Hour)).Lock(t.Context()))(t)
		began := time.Now()
		got := make(chan *holdfast.Lease)
		go func() { got <- must(b.Mutex("m").Lock(t.Context()))(t) }()
		synctest.Wait() // it is queued, which the owner has not been told
		lease.Release(t.Context())
		(<-got).Release(t.Context())
		if took := time.Since(began); took > 0 {
			t.Errorf("it took %v", took)
		}
	})
}

// An owner that takes the lock without a pause loses it to another client after a while.
func TestReuseInALoopYields(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a, b := twoClients(t)
		m := a.Mutex("m", holdfast.WithReuse(time.Hour))
		cycles(t, m, 1)
		synctest.Wait()
		ctx, stop := context.WithCancel(t.Context())
		var owner sync.WaitGroup
		owner.Go(func() {
			for ctx.Err() == nil {
				lease := must(m.Lock(t.Context()))(t)
				time.Sleep(time.Millisecond)
				lease.Release(t.Context())
			}
		})
		began := time.Now()
		must(b.Mutex("m").Lock(t.Context()))(t).Release(t.Context())
		if took := time.Since(began); took > 2*time.Millisecond {
			t.Errorf("it took %v, want the time of a section or two", took)
		}
		stop()
		owner.Wait()
	})
}

// Where changes of the queue cannot be told, as when that fails, renewals tell who waits.
func TestReuseYieldsWithoutAWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memlock.New()
		a := newClient(t, batch.Intercept(store, func(_ context.Context, op driver.Op, next next) driver.Result {
			if op.Kind == driver.OpWatch {
				return driver.Result{Err: errors.New("no")}
			}
			return next(op)
		}))
		b := newClient(t, store.Client())
		cycles(t, a.Mutex("m", holdfast.WithReuse(time.Hour)), 10)
		began := time.Now()
		must(b.Mutex("m").Lock(t.Context()))(t)
		if took := time.Since(began); took > holdfast.DefaultTTL {
			t.Errorf("it took %v", took)
		}
	})
}

// Goroutines of the client wait in line as they do without.
func TestReuseAmongGoroutines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, a, _ := twoClients(t, holdfast.WithReuse(time.Hour))
		inside, most := 0, 0
		var all sync.WaitGroup
		for range 100 {
			all.Go(func() {
				for range 5 {
					lease := must(a.Mutex("m").Lock(t.Context()))(t)
					inside++
					most = max(most, inside)
					time.Sleep(time.Millisecond)
					inside--
					lease.Release(t.Context())
				}
			})
		}
		all.Wait()
		if most != 1 {
			t.Errorf("%d inside", most)
		}
		if n := l.count("request"); n != 1 {
			t.Errorf("%d requests", n)
		}
	})
}

// A client that is closed gives back what it keeps.
func TestReuseAndClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a, b := twoClients(t)
		cycles(t, a.Mutex("m", holdfast.WithReuse(time.Hour)), 3)
		if err := a.Close(t.Context()); err != nil {
			t.Error(err)
		}
		noneQueued(t, b, "m")
	})
}

// A lock that is broken while it is kept is acquired anew, and nobody is told of a loss.
func TestReuseOfWhatIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r recorder
		_, a, b := twoClients(t, holdfast.WithObserver(&r))
		m := a.Mutex("m", holdfast.WithReuse(time.Hour))
		last := cycles(t, m, 3)
		if err := b.Break(t.Context(), "m", queued(t, b, "m")[0].ID); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		noneQueued(t, b, "m")
		if token := cycles(t, m, 1); token <= last {
			t.Errorf("token %d after %d", token, last)
		}
		synctest.Wait()
		for _, e := range r.events {
			if e.Op == holdfast.OpLose {
				t.Errorf("a loss was told: %+v", e)
			}
		}
	})
}

// A lock that somebody asks for is given back at once.
func TestReuseOfWhatIsRevoked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a, b := twoClients(t)
		cycles(t, a.Mutex("m", holdfast.WithReuse(time.Hour)), 3)
		if err := b.Revoke(t.Context(), "m"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		noneQueued(t, b, "m")
	})
}

// A lock that could not be renewed is not granted once more after its deadline.
func TestReuseAfterTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, a, b := twoClients(t)
		m := a.Mutex("m", holdfast.WithReuse(time.Hour))
		cycles(t, m, 3)
		synctest.Wait()
		l.set(faults{cut: true})
		time.Sleep(holdfast.DefaultTTL)
		other := must(b.Mutex("m").Lock(t.Context()))(t)
		l.set(faults{})
		_, err := m.TryLock(t.Context())
		wantErr(t, err, holdfast.ErrNotAcquired)
		other.Release(t.Context())
		cycles(t, m, 1)
	})
}

// All that is known of a hold that is kept ends with it: the next one is kept for its own time, and nobody looks out
// for locks that are not kept.
func TestReuseOfTheNextHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, a, b := twoClients(t)
		m := a.Mutex("m", holdfast.WithReuse(time.Second))
		cycles(t, m, 1)
		lease := must(m.Lock(t.Context()))(t)
		lease.Done() // so that it learns of its end at once
		next := make(chan *holdfast.Lease)
		go func() { next <- must(m.Lock(t.Context()))(t) }()
		synctest.Wait()
		time.Sleep(time.Second - time.Millisecond)
		if err := b.Break(t.Context(), "m", queued(t, b, "m")[0].ID); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		lease.Release(t.Context())
		(<-next).Release(t.Context())
		time.Sleep(time.Second - time.Millisecond)
		requests := l.count("request")
		cycles(t, m, 2)
		if n := l.count("request"); n != requests {
			t.Error("the next hold was not kept for its own time")
		}
		began := time.Now()
		must(b.Mutex("m").Lock(t.Context()))(t)
		if took := time.Since(began); took > 0 {
			t.Errorf("another client had to wait %v", took)
		}
		synctest.Wait()
		if n := holdfast.Expected(a); n != 0 {
			t.Errorf("it still looks out for %d locks", n)
		}
	})
}

// A lease on what was kept can be left to another process.
func TestReuseAndDetach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a, b := twoClients(t)
		m := a.Mutex("m", holdfast.WithReuse(time.Hour))
		cycles(t, m, 3)
		lease := must(m.Lock(t.Context()))(t)
		handle := must(lease.Detach(t.Context()))(t)
		resumed := must(b.Resume(t.Context(), handle))(t)
		if resumed.Token() != lease.Token() {
			t.Errorf("token %d, detached was %d", resumed.Token(), lease.Token())
		}
		if err := resumed.Release(t.Context()); err != nil {
			t.Error(err)
		}
		noneQueued(t, b, "m")
	})
}

// A lock is not kept where it cannot be known who waits.
func TestReuseNeedsAQueue(t *testing.T) {
	for what, change := range map[string]func(*driver.Traits){
		"no order": func(tr *driver.Traits) { tr.FIFO = false },
		"no watch": func(tr *driver.Traits) { tr.Ops &^= driver.KindsOf(driver.OpWatch) },
	} {
		c := newClient(t, withTraits{memlock.New(), change})
		_, err := c.Mutex("m", holdfast.WithReuse(time.Second)).Lock(t.Context())
		if !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), "WithReuse") {
			t.Fatalf("%s: %v", what, err)
		}
		must(c.Mutex("m").Lock(t.Context()))(t)
	}
}
