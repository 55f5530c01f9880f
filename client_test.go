package holdfast_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/bubble"
	"github.com/holdfast-go/holdfast/memlock"
)

func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a, b := twoClients(t)
		held := must(a.Mutex("held").Lock(t.Context()))(t)
		permit := must(a.Semaphore("sem", 3).Acquire(t.Context(), 2))(t)
		must(b.Mutex("other").Lock(t.Context()))(t)
		var wg sync.WaitGroup
		for _, name := range []string{"held", "other", "other"} { // at the gate, and in the queue
			wg.Go(func() {
				_, err := a.Mutex(name).Lock(t.Context())
				wantErr(t, err, holdfast.ErrClosed)
			})
		}
		synctest.Wait()
		if err := a.Close(t.Context()); err != nil {
			t.Errorf("close: %v", err)
		}
		wg.Wait()
		for _, lease := range []*holdfast.Lease{held, permit} {
			wantErr(t, lease.Err(), holdfast.ErrReleased)
			if err := lease.Release(t.Context()); err != nil {
				t.Errorf("release after close: %v", err)
			}
		}
		for _, name := range []string{"held", "sem"} {
			if q := queued(t, b, name); len(q) != 0 {
				t.Errorf("%d claims are left on %s", len(q), name)
			}
		}
		if q := queued(t, b, "other"); len(q) != 1 {
			t.Errorf("%d claims on the lock that was waited for, want the holder's", len(q))
		}
		_, err := a.Mutex("m").Lock(t.Context())
		wantErr(t, err, holdfast.ErrClosed)
		must(b.Mutex("m").Lock(t.Context()))(t) // New: the store goes on
	})
}

// Close waits for a release that is under way.
func TestCloseDuringRelease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, a, b, lease := firstHolds(t)
		l.set(faults{late: time.Second})
		go lease.Release(t.Context())
		synctest.Wait()
		if err := a.Close(t.Context()); err != nil {
			t.Error(err)
		}
		noneQueued(t, b, "m")
	})
}

// Whoever finds out that a lock was lost, its owner is told: also when Close gave it back.
func TestReleaseAfterClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a, b, lease := firstHolds(t)
		b.Break(t.Context(), "m", queued(t, b, "m")[0].ID)
		must(b.Mutex("m").Lock(t.Context()))(t)
		wantErr(t, a.Close(t.Context()), holdfast.ErrLost)
		wantErr(t, lease.Release(t.Context()), holdfast.ErrLost)
	})
}

// Work that goes on after Close gave its lock back is not reported as a success.
func TestDoDuringClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a, b := twoClients(t)
		err := a.Mutex("m").Do(t.Context(), func(context.Context, *holdfast.Lease) error {
			if err := a.Close(t.Context()); err != nil {
				t.Error(err)
			}
			must(b.Mutex("m").Lock(t.Context()))(t)
			return nil
		})
		wantErr(t, err, holdfast.ErrClosed)
	})
}

func TestCloseIsBoundedByItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, a, _ := twoClients(t)
		must(a.Mutex("m").Lock(t.Context()))(t)
		l.set(faults{cut: true})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		wantErr(t, a.Close(ctx), holdfast.ErrUnknown)
		if took := time.Since(start); took > 2*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

// One keeper renews the claims of a client, in batches.
func TestManyLeases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const leases = 10_000
		l, a, b := twoClients(t)
		before := bubble.Goroutines()
		held := make([]*holdfast.Lease, leases)
		for i := range held {
			held[i] = must(a.Mutex(strconv.Itoa(i)).Lock(t.Context()))(t)
		}
		time.Sleep(3 * ttl)
		if n := bubble.Goroutines() - before; n > 20 {
			t.Errorf("%d goroutines for %d leases", n, leases)
		}
		if n := l.count("renew"); n > 3*3*leases/100 {
			t.Errorf("%d requests renewed %d leases for three TTLs", n, leases)
		}
		for _, lease := range held {
			if err := lease.Err(); err != nil {
				t.Fatal(err)
			}
		}
		names := 0
		for _, err := range b.Names(t.Context(), "") {
			if err != nil {
				t.Fatal(err)
			}
			names++
		}
		if names != leases {
			t.Errorf("%d names are listed, want %d", names, leases)
		}
	})
}

// A weighty driver takes a millisecond for each operation of a batch.
type weighty struct{ *memlock.Driver }

func (d weighty) Do(ctx context.Context, batch []driver.Op, done func(int, driver.Result)) {
	if len(batch) > 1 {
		driver.Sleep(ctx, time.Duration(len(batch))*time.Millisecond)
	}
	d.Driver.Do(ctx, batch, done)
}

// Claims whose renewal must be answered soon, of which some are always due, leave the others their time.
func TestShortLeasesAmongMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClient(t, weighty{memlock.New()})
		var all holdfast.Leases
		for i := range 20 {
			short := c.Mutex("short"+strconv.Itoa(i), holdfast.WithTTL(600*time.Millisecond))
			all = append(all, must(short.Lock(t.Context()))(t))
			time.Sleep(10 * time.Millisecond)
		}
		for i := range 300 {
			all = append(all, must(c.Mutex(strconv.Itoa(i)).Lock(t.Context()))(t))
		}
		time.Sleep(3 * ttl)
		if err := all.Err(); err != nil {
			t.Error(err)
		}
	})
}

// Renewals that may take long, and hang, keep none from being sent that must be answered sooner.
func TestShortLeaseBesideWhatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := overLine(memlock.New())
		c := newClient(t, l)
		for i := range 200 {
			must(c.Mutex(strconv.Itoa(i), holdfast.WithTTL(30*time.Second)).Lock(t.Context()))(t)
			time.Sleep(50 * time.Millisecond) // so that they are not renewed together
		}
		short := must(c.Mutex("short", holdfast.WithTTL(2*time.Second)).Lock(t.Context()))(t)
		l.set(faults{cut: true})
		time.Sleep(time.Second)
		l.set(faults{})
		time.Sleep(10 * time.Second)
		if err := short.Err(); err != nil {
			t.Errorf("after an outage of half its TTL: %v", err)
		}
	})
}

func TestQueueShowsWhoAndWhat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a, b := twoClients(t, holdfast.WithOwner("nightly"))
		lease := must(a.Mutex("m").Lock(t.Context()))(t)
		go b.Mutex("m").Lock(t.Context())
		time.Sleep(time.Second)
		q := queued(t, b, "m")
		if len(q) != 2 || !q[0].Granted || q[1].Granted {
			t.Fatalf("queue is %v", q)
		}
		holder := q[0]
		if holder.Token != lease.Token() || !strings.HasSuffix(holder.Owner, " nightly") ||
			holder.Left <= 0 || holder.Since.IsZero() {
			t.Errorf("holder is shown as %+v", holder)
		}
		if names := slices.Collect(first(b.Names(t.Context(), "m"))); !slices.Equal(names, []string{"m"}) {
			t.Errorf("names are %q", names)
		}
		b.Close(t.Context())
		if _, err := b.Queue(t.Context(), "m"); !errors.Is(err, holdfast.ErrClosed) {
			t.Errorf("queue of a closed client: %v", err)
		}
	})
}

// first drops the second of each pair.
func first[A, B any](pairs func(func(A, B) bool)) func(func(A) bool) {
	return func(yield func(A) bool) {
		for a := range pairs {
			if !yield(a) {
				return
			}
		}
	}
}

func TestOpen(t *testing.T) {
	for url, says := range map[string]string{
		"mem:test?colour=red":           "unknown parameter",
		"redis://:s3cret@localhost":     "import github.com/holdfast-go/holdfast/redislock",
		"postgers://u:s3cret@localhost": "unknown scheme",
		"redis://u:s3cret@host:port%":   "a port that is not a number",
	} {
		_, err := holdfast.Open(t.Context(), url)
		if err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("Open(%q): %v, want an error that says %q and no password", url, err, says)
		}
	}
	a := must(holdfast.Open(t.Context(), "mem:shared"))(t)
	b := must(holdfast.Open(t.Context(), "mem:shared"))(t)
	must(a.Mutex("m").Lock(t.Context()))(t)
	_, err := b.Mutex("m").TryLock(t.Context())
	wantErr(t, err, holdfast.ErrNotAcquired)
	if err := errors.Join(a.Close(t.Context()), b.Close(t.Context())); err != nil {
		t.Error(err)
	}
}

type recorder struct {
	mu     sync.Mutex
	events []holdfast.Event
}

func (r *recorder) Observe(_ context.Context, e holdfast.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
}

func TestObserverAndLogger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r recorder
		var log bytes.Buffer
		store := memlock.New()
		logger := slog.New(slog.NewTextHandler(&log, nil))
		a := newClient(t, store, holdfast.WithObserver(&r), holdfast.WithLogger(logger))
		lease := must(a.Mutex("m").Lock(t.Context()))(t)
		time.Sleep(time.Second)
		_, err := a.Semaphore("m", 1).TryAcquire(t.Context(), 1)
		wantErr(t, err, holdfast.ErrNotAcquired)
		lease.Release(t.Context())
		lost := must(a.RWMutex("m").RLock(t.Context()))(t)
		a.Break(t.Context(), "m", queued(t, a, "m")[0].ID)
		lost.Check(t.Context())
		synctest.Wait() // until what happened by itself was told

		type seen struct {
			op   holdfast.Op
			kind string
			err  error
			took time.Duration
		}
		want := []seen{
			{holdfast.OpAcquire, "mutex", nil, 0},
			{holdfast.OpAcquire, "semaphore", holdfast.ErrNotAcquired, 0},
			{holdfast.OpRelease, "mutex", nil, time.Second},
			{holdfast.OpAcquire, "read", nil, 0},
			{holdfast.OpLose, "read", holdfast.ErrLost, 0},
		}
		if len(r.events) != len(want) {
			t.Fatalf("%d events, want %d: %+v", len(r.events), len(want), r.events)
		}
		for i, e := range r.events {
			w := want[i]
			if e.Op != w.op || e.Kind != w.kind || !errors.Is(e.Err, w.err) || e.Took != w.took || e.Name != "m" {
				t.Errorf("event %d is %+v, want %+v", i, e, w)
			}
		}
		if got := log.String(); !strings.Contains(got, "lock lost") || strings.Count(got, "\n") != 1 {
			t.Errorf("the log says %q", got)
		}
	})
}
