package holdfast_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
)

// Release waits for no answer, and the lock is given back at once.
func TestAsyncRelease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, a, b := twoClients(t)
		m := a.Mutex("m", holdfast.WithAsyncRelease())
		lease := must(m.Lock(t.Context()))(t)
		l.set(faults{slow: time.Second}) // of an answer
		began := time.Now()
		if err := lease.Release(t.Context()); err != nil || time.Since(began) != 0 {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		other := must(b.Mutex("m").Lock(t.Context()))(t)
		if took := time.Since(began); took != 0 {
			t.Errorf("another client waited %v", took)
		}
		if other.Token() <= lease.Token() {
			t.Errorf("token %d after %d", other.Token(), lease.Token())
		}
		other.Release(t.Context())
	})
}

// A TryLock of the same client finds the lock free, however slow the release is.
func TestTryLockAfterAsyncRelease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, a, _ := twoClients(t)
		m := a.Mutex("m", holdfast.WithAsyncRelease())
		l.set(faults{late: time.Second, slow: time.Second})
		for range 3 {
			must(m.TryLock(t.Context()))(t).Release(t.Context())
		}
	})
}

// Where the backend does not answer it is asked again, and Close waits for that.
func TestAsyncReleaseInAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, a, b := twoClients(t)
		lease := must(a.Mutex("m", holdfast.WithAsyncRelease()).Lock(t.Context()))(t)
		l.set(faults{cut: true})
		if err := lease.Release(t.Context()); err != nil {
			t.Error(err)
		}
		time.AfterFunc(3*time.Second, func() { l.set(faults{}) })
		if err := a.Close(t.Context()); err != nil {
			t.Error(err)
		}
		noneQueued(t, b, "m")
	})
}

// The outcome is told when it is known.
func TestAsyncReleaseOfWhatWasBroken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r recorder
		var log bytes.Buffer
		logger := holdfast.WithLogger(slog.New(slog.NewTextHandler(&log, nil)))
		_, a, b := twoClients(t, holdfast.WithObserver(&r), logger)
		m := a.Mutex("m", holdfast.WithAsyncRelease())
		lease := must(m.Lock(t.Context()))(t)
		if err := b.Break(t.Context(), "m", queued(t, b, "m")[0].ID); err != nil {
			t.Fatal(err)
		}
		if err := lease.Release(t.Context()); err != nil {
			t.Errorf("%v, want nil: it was valid by its deadline", err)
		}
		must(m.Lock(t.Context()))(t).Release(t.Context())
		synctest.Wait()
		var lost []holdfast.Event
		ends := 0
		r.mu.Lock()
		for _, e := range r.events {
			if e.Op != holdfast.OpAcquire {
				ends++
			}
			if e.Op == holdfast.OpRelease && e.Err != nil {
				lost = append(lost, e)
			}
		}
		r.mu.Unlock()
		if len(lost) != 1 || lost[0].Token != lease.Token() || ends != 2 {
			t.Fatalf("releases that went wrong: %+v, and %d ends of 2 leases", lost, ends)
		}
		wantErr(t, lost[0].Err, holdfast.ErrLost)
		s := log.String()
		if strings.Count(s, "releasing a lock in the background") != 1 || !strings.Contains(s, "lock=m") {
			t.Errorf("logged: %s", s)
		}
	})
}

// A loss that is known at once is an error at once.
func TestAsyncReleaseAfterTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, a, _ := twoClients(t)
		lease := must(a.Mutex("m", holdfast.WithAsyncRelease()).Lock(t.Context()))(t)
		l.set(faults{cut: true})
		time.Sleep(holdfast.DefaultTTL)
		wantErr(t, lease.Release(t.Context()), holdfast.ErrLost)
		l.set(faults{})
	})
}
