package holdfast_test

import (
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/memlock"
)

func TestSyncLockerExcludes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memlock.New()
		var wg sync.WaitGroup
		inside := 0
		for range 3 {
			l := holdfast.SyncLocker(newClient(t, store.Client()).Mutex("m"), nil)
			for range 5 {
				wg.Go(func() {
					l.Lock()
					defer l.Unlock()
					if inside++; inside != 1 {
						t.Errorf("%d inside", inside)
					}
					time.Sleep(time.Second)
					inside--
				})
			}
		}
		wg.Wait()
	})
}

func TestSyncLockerWaitsForTheBackend(t *testing.T) {
	for _, outage := range []faults{{cut: true}, {refuse: driver.ErrUnsent}} {
		synctest.Test(t, func(t *testing.T) {
			cable, a, _ := twoClients(t)
			cable.set(outage)
			time.AfterFunc(time.Hour, func() { cable.set(faults{}) })
			start := time.Now()
			l := holdfast.SyncLocker(a.Mutex("m"), nil)
			l.Lock()
			if waited := time.Since(start); waited < time.Hour {
				t.Errorf("locked after %v without a backend", waited)
			}
			l.Unlock()
		})
	}
}

// To break a claim that waits does not make waiting useless: it begins again at the end of the line.
func TestSyncLockerWaitsAgainWhereItIsBroken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a, b := twoClients(t)
		holder := must(b.Mutex("m").Lock(t.Context()))(t)
		l := holdfast.SyncLocker(a.Mutex("m"), nil)
		locked := make(chan struct{})
		go func() {
			defer close(locked)
			l.Lock()
		}()
		synctest.Wait()
		if err := b.Break(t.Context(), "m", queued(t, b, "m")[1].ID); err != nil {
			t.Fatal(err)
		}
		time.Sleep(ttl)
		if err := holder.Release(t.Context()); err != nil {
			t.Error(err)
		}
		<-locked
		l.Unlock()
	})
}

func TestSyncLockerTellsTheLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a, b := twoClients(t)
		var lost error
		l := holdfast.SyncLocker(a.Mutex("m"), func(err error) { lost = err })
		l.Lock()
		b.Break(t.Context(), "m", queued(t, b, "m")[0].ID)
		l.Unlock()
		wantErr(t, lost, holdfast.ErrLost)
	})
}

// Who lost the lock learns that when it unlocks, and leaves alone what somebody else has locked since.
func TestSyncLockerKeepsLeasesApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a, b := twoClients(t)
		var lost []error
		l := holdfast.SyncLocker(a.Mutex("m"), func(err error) { lost = append(lost, err) })
		l.Lock()
		b.Break(t.Context(), "m", queued(t, b, "m")[0].ID)
		time.Sleep(ttl)
		l.Lock() // another goroutine
		if len(lost) != 0 {
			t.Errorf("who locks heard of somebody else's loss: %v", lost)
		}
		l.Unlock()
		if len(lost) != 1 {
			t.Errorf("who had lost the lock heard %v", lost)
		}
		if q := queued(t, b, "m"); len(q) != 1 {
			t.Errorf("%d claims are there while a goroutine has the lock", len(q))
		}
		l.Unlock()
	})
}

// As many as may share the lock have it through one SyncLocker, and all of them give it back.
func TestSyncLockerShares(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a, b := twoClients(t)
		l := holdfast.SyncLocker(a.RWMutex("m").Reader(), nil)
		l.Lock()
		l.Lock()
		if q := queued(t, b, "m"); len(q) != 2 {
			t.Errorf("%d readers are there, want 2", len(q))
		}
		l.Unlock()
		l.Unlock()
		noneQueued(t, b, "m")
	})
}

func TestSyncLockerPanics(t *testing.T) {
	_, a, b := twoClients(t)
	wantPanic := func(what string, f func()) {
		t.Helper()
		defer func() {
			if recover() == nil {
				t.Errorf("%s did not panic", what)
			}
		}()
		f()
	}
	l := holdfast.SyncLocker(a.Mutex("m"), nil)
	wantPanic("unlocking what is not locked", l.Unlock)
	l.Lock()
	if err := b.Break(t.Context(), "m", queued(t, b, "m")[0].ID); err != nil {
		t.Fatal(err)
	}
	wantPanic("unlocking what was lost", l.Unlock)
	if err := a.Close(t.Context()); err != nil && !errors.Is(err, holdfast.ErrLost) {
		t.Fatal(err)
	}
	wantPanic("locking with a closed client", l.Lock)
}
