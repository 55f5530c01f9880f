package holdfast_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/memlock"
)

// must returns v, or ends the test.
func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatalf("unexpected error: %v", err)
		}
		return v
	}
}

// wantErr checks that err matches each of the targets.
func wantErr(t testing.TB, err error, targets ...error) {
	t.Helper()
	for _, target := range targets {
		if !errors.Is(err, target) {
			t.Fatalf("error is %v, want one that matches %v", err, target)
		}
	}
}

// queued returns the live claims of a lock.
func queued(t testing.TB, c *holdfast.Client, name string) []holdfast.Entry {
	t.Helper()
	return must(c.Queue(t.Context(), name))(t)
}

// noneQueued fails if a lock has claims.
func noneQueued(t testing.TB, c *holdfast.Client, name string) {
	t.Helper()
	if q := queued(t, c, name); len(q) != 0 {
		t.Errorf("%d claims are left: %+v", len(q), q)
	}
}

func TestMutexExcludes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memlock.New()
		var wg sync.WaitGroup
		inside, total := 0, 0
		var last uint64
		for range 4 {
			client := newClient(t, store.Client())
			for range 50 {
				wg.Go(func() {
					lease := must(client.Mutex("stock").Lock(t.Context()))(t)
					if inside++; inside != 1 {
						t.Errorf("%d are inside at once", inside)
					}
					if lease.Token() <= last {
						t.Errorf("token %d after %d", lease.Token(), last)
					}
					last = lease.Token()
					time.Sleep(time.Millisecond)
					inside--
					total++
					if err := lease.Release(t.Context()); err != nil {
						t.Errorf("release: %v", err)
					}
				})
			}
		}
		wg.Wait()
		if total != 200 {
			t.Errorf("%d sections ran, want 200", total)
		}
	})
}

func TestTryLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a, b := twoClients(t)
		lease := must(a.Mutex("m").TryLock(t.Context()))(t)
		for name, c := range map[string]*holdfast.Client{"the same client": a, "another client": b} {
			if _, err := c.Mutex("m").TryLock(t.Context()); !errors.Is(err, holdfast.ErrNotAcquired) {
				t.Errorf("%s: TryLock of a held lock: %v, want ErrNotAcquired", name, err)
			}
		}
		if err := lease.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		must(b.Mutex("m").TryLock(t.Context()))(t)
	})
}

func TestWaitEndsWithItsContext(t *testing.T) {
	for _, who := range []string{"another client holds", "another goroutine holds"} {
		t.Run(who, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, a, b := twoClients(t)
				holder := a
				if who == "another client holds" {
					holder = b
				}
				must(holder.Mutex("m").Lock(t.Context()))(t)

				boring := errors.New("it took too long")
				ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, boring)
				defer cancel()
				start := time.Now()
				_, err := a.Mutex("m").Lock(ctx)
				wantErr(t, err, holdfast.ErrNotAcquired, boring)
				if took := time.Since(start); took != time.Minute {
					t.Errorf("the wait took %v, want exactly a minute", took)
				}
				synctest.Wait()
				if q := queued(t, b, "m"); len(q) != 1 {
					t.Errorf("%d claims are queued, want only the holder's", len(q))
				}
			})
		})
	}
}

func TestCancelledBeforeItBegan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, a, _ := twoClients(t)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := a.Mutex("m").Lock(ctx)
		wantErr(t, err, holdfast.ErrNotAcquired, context.Canceled)
		if n := l.count("request"); n != 0 {
			t.Errorf("%d requests were sent, want none", n)
		}
	})
}

func TestContextBoundsTheWaitNotTheHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a, _ := twoClients(t)
		ctx, cancel := context.WithCancel(t.Context())
		lease := must(a.Mutex("m").Lock(ctx))(t)
		cancel()
		time.Sleep(time.Hour)
		if err := lease.Err(); err != nil {
			t.Errorf("the lease ended with the context of its acquisition: %v", err)
		}
	})
}

func TestReadersAndWriters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a, b := twoClients(t)
		first := must(a.RWMutex("rw").RLock(t.Context()))(t)
		second := must(b.RWMutex("rw").TryRLock(t.Context()))(t)
		_, err := b.RWMutex("rw").TryLock(t.Context())
		wantErr(t, err, holdfast.ErrNotAcquired)

		var order []string
		var wg sync.WaitGroup
		wg.Go(func() {
			a.RWMutex("rw").Do(t.Context(), func(context.Context, *holdfast.Lease) error {
				order = append(order, "writer")
				return nil
			})
		})
		synctest.Wait()
		wg.Go(func() {
			b.RWMutex("rw").RDo(t.Context(), func(context.Context, *holdfast.Lease) error {
				order = append(order, "reader")
				return nil
			})
		})
		synctest.Wait()
		if len(order) != 0 {
			t.Errorf("%v went in beside the readers", order)
		}
		first.Release(t.Context())
		second.Release(t.Context())
		wg.Wait()
		if got := strings.Join(order, " "); got != "writer reader" {
			t.Errorf("order is %q: a reader overtook the writer that waited", got)
		}
	})
}

func TestSemaphore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a, b := twoClients(t)
		two := must(a.Semaphore("s", 3).Acquire(t.Context(), 2))(t)
		must(b.Semaphore("s", 3).TryAcquire(t.Context(), 1))(t)
		_, err := b.Semaphore("s", 3).TryAcquire(t.Context(), 1)
		wantErr(t, err, holdfast.ErrNotAcquired)
		for range 3 {
			two.Release(t.Context())
		}
		_, err = b.Semaphore("s", 3).TryAcquire(t.Context(), 3)
		wantErr(t, err, holdfast.ErrNotAcquired)
		must(b.Semaphore("s", 3).TryAcquire(t.Context(), 2))(t)
	})
}

func TestBadInput(t *testing.T) {
	_, a, _ := twoClients(t)
	weak := newClient(t, withTraits{memlock.New(), func(tr *driver.Traits) {
		tr.MinTTL, tr.MaxTTL, tr.MaxName, tr.Weighted = time.Second, time.Hour, 10, false
	}})
	lock := func(c *holdfast.Client, name string, opts ...holdfast.Option) func() error {
		return func() error {
			_, err := c.Mutex(name, opts...).Lock(t.Context())
			return err
		}
	}
	for _, row := range []struct {
		name string
		call func() error
		says string
		is   error
	}{
		{"empty name", lock(a, ""), "empty", holdfast.ErrInvalidName},
		{"long name", lock(weak, "elevenbytes"), "at most 10", holdfast.ErrInvalidName},
		{"no TTL", lock(a, "m", holdfast.WithTTL(0)), "positive", nil},
		{"TTL that leaves nothing", lock(a, "m", holdfast.WithTTL(99*time.Millisecond)), "at least 100ms", nil},
		{"short TTL", lock(weak, "m", holdfast.WithTTL(time.Second/2)), "at least 1s", nil},
		{"long TTL", lock(weak, "m", holdfast.WithTTL(24*time.Hour)), "at most 1h", nil},
		{"many hand-offs", lock(a, "m", holdfast.WithLocalHandoff(1024)), "from 0 to 1023", nil},
		{"negative hand-offs", lock(a, "m", holdfast.WithLocalHandoff(-1)), "from 0 to 1023", nil},
		{"max below min", lock(a, "m", holdfast.WithMinHold(2), holdfast.WithMaxHold(1)), "shorter", nil},
		{"hold of 292 years", lock(a, "m", holdfast.WithMinHold(math.MaxInt64)), "at most 876000h", nil},
		{"end after 292 years", lock(a, "m", holdfast.WithMaxHold(math.MaxInt64)), "at most 876000h", nil},
		{"TTL of 292 years", lock(a, "m", holdfast.WithTTL(math.MaxInt64)), "at most 876000h", nil},
		{"reuse of 292 years", lock(a, "m", holdfast.WithReuse(math.MaxInt64)), "at most 876000h", nil},
		{"negative reuse", lock(a, "m", holdfast.WithReuse(-1)), "negative", nil},
		{"reuse and a minimum hold", lock(a, "m", holdfast.WithReuse(1), holdfast.WithMinHold(1)), "choose one", nil},
		{"reuse in strict order", lock(a, "m", holdfast.WithReuse(1), holdfast.WithLocalHandoff(0)), "exclude", nil},
		{"negative hold", lock(a, "m", holdfast.WithMinHold(-1)), "negative", nil},
		{"no permits", func() error {
			return second(a.Semaphore("s", 0).Acquire(t.Context(), 1))
		}, "a semaphore of 0 permits", nil},
		{"too many permits", func() error {
			return second(a.Semaphore("s", 2).Acquire(t.Context(), 3))
		}, "3 permits of 2", nil},
		{"no weight", func() error {
			return second(a.Semaphore("s", 2).TryAcquire(t.Context(), 0))
		}, "0 permits of 2", nil},
		{"readers where there are none", func() error {
			return second(weak.RWMutex("rw").RLock(t.Context()))
		}, "readers", errors.ErrUnsupported},
	} {
		t.Run(row.name, func(t *testing.T) {
			err := row.call()
			if err == nil || !strings.Contains(err.Error(), row.says) {
				t.Fatalf("error is %v, want one that says %q", err, row.says)
			}
			if row.is != nil {
				wantErr(t, err, row.is)
			}
			if errors.Is(err, holdfast.ErrNotAcquired) {
				t.Errorf("%v looks as if the lock were taken", err)
			}
		})
	}
}

func TestErrorsNameLockAndBackend(t *testing.T) {
	_, a, b := twoClients(t)
	must(a.Mutex("orders/42").Lock(t.Context()))(t)
	_, err := b.Mutex("orders/42").TryLock(t.Context())
	for _, want := range []string{`"orders/42"`, "mem", "taken"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not say %s", err, want)
		}
	}
}
