package gocronlock_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-co-op/gocron/v2"
	"github.com/google/uuid"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/adapters/gocronlock"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/batch"
	"github.com/holdfast-go/holdfast/memlock"
)

func newClient(t testing.TB, store *memlock.Driver) *holdfast.Client {
	c := holdfast.New(store.Client())
	t.Cleanup(func() { c.Close(context.Background()) })
	return c
}

// A short job runs once for each tick, though the clock of one scheduler is late.
func TestLockerOutlastsTheJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memlock.New()
		early := gocronlock.NewLocker(newClient(t, store), 30*time.Second)
		late := gocronlock.NewLocker(newClient(t, store), 30*time.Second)
		run, err := early.Lock(t.Context(), "job")
		if err != nil {
			t.Fatal(err)
		}
		if err := run.Unlock(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(29 * time.Second)
		if _, err := late.Lock(t.Context(), "job"); !errors.Is(err, holdfast.ErrNotAcquired) {
			t.Errorf("a late scheduler got %v", err)
		}
		time.Sleep(2 * time.Second)
		if _, err := late.Lock(t.Context(), "job"); err != nil {
			t.Errorf("the next tick got %v", err)
		}
	})
}

// Without a splay the minimum hold counts that the options have.
func TestMinimumHoldAmongTheOptions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		locker := gocronlock.NewLocker(newClient(t, memlock.New()), 0, holdfast.WithMinHold(30*time.Second))
		run, err := locker.Lock(t.Context(), "job")
		if err != nil {
			t.Fatal(err)
		}
		if err := run.Unlock(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(29 * time.Second)
		if _, err := locker.Lock(t.Context(), "job"); !errors.Is(err, holdfast.ErrNotAcquired) {
			t.Errorf("a late run got %v", err)
		}
	})
}

func TestElector(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memlock.New()
		first := gocronlock.NewElector(newClient(t, store), "cron", "one")
		synctest.Wait()
		second := gocronlock.NewElector(newClient(t, store), "cron", "two")
		synctest.Wait()
		leadsAlone(t, first, second)
		first.Close()
		synctest.Wait()
		leadsAlone(t, second, first)
		second.Close()
	})
}

// leadsAlone fails unless one of two leads, and the other does not.
func leadsAlone(t *testing.T, leader, other *gocronlock.Elector) {
	t.Helper()
	if err := leader.IsLeader(t.Context()); err != nil {
		t.Errorf("who came first, or is left, does not lead: %v", err)
	}
	if other.IsLeader(t.Context()) == nil {
		t.Error("who came second, or has resigned, leads")
	}
}

// An elector whose backend is not there when it begins is a candidate once it is.
func TestElectorBeforeItsBackend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var back atomic.Bool
		client := holdfast.New(batch.Intercept(memlock.New(),
			func(_ context.Context, op driver.Op, next func(driver.Op) driver.Result) driver.Result {
				if op.Kind == driver.OpRequest && !back.Load() {
					return driver.Result{Err: errors.New("connection refused")}
				}
				return next(op)
			}))
		defer client.Close(t.Context())
		elector := gocronlock.NewElector(client, "cron", "one")
		defer elector.Close()
		time.Sleep(time.Hour)
		if err := elector.IsLeader(t.Context()); err == nil || !strings.Contains(err.Error(), "refused") {
			t.Errorf("without a backend it says %v", err)
		}
		back.Store(true)
		time.Sleep(time.Minute)
		if err := elector.IsLeader(t.Context()); err != nil {
			t.Errorf("it does not lead: %v", err)
		}
	})
}

// An elector whose claim somebody removes while it waits is a candidate again: it campaigns until Close.
func TestElectorWhoseClaimIsBroken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memlock.New()
		client := newClient(t, store)
		first := gocronlock.NewElector(client, "cron", "one")
		synctest.Wait()
		second := gocronlock.NewElector(newClient(t, store), "cron", "two")
		defer second.Close()
		synctest.Wait()
		queue, err := client.Queue(t.Context(), "cron")
		if err != nil || len(queue) != 2 {
			t.Fatalf("%v, %v", queue, err)
		}
		if err := client.Break(t.Context(), "cron", queue[1].ID); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		first.Close()
		time.Sleep(time.Minute)
		leadsAlone(t, second, first)
	})
}

// Two real schedulers with one job run it once.
func TestSchedulers(t *testing.T) {
	store := memlock.New()
	var runs atomic.Int32
	done := make(chan struct{}, 2)
	for range 2 {
		s, err := gocron.NewScheduler(gocron.WithDistributedLocker(gocronlock.NewLocker(newClient(t, store),
			time.Hour)))
		if err != nil {
			t.Fatal(err)
		}
		defer s.Shutdown()
		_, err = s.NewJob(gocron.OneTimeJob(gocron.OneTimeJobStartImmediately()),
			gocron.NewTask(func() { runs.Add(1) }), gocron.WithName("job"),
			gocron.WithEventListeners(
				gocron.AfterJobRuns(func(_ uuid.UUID, _ string) { done <- struct{}{} }),
				gocron.AfterLockError(func(_ uuid.UUID, _ string, _ error) { done <- struct{}{} }),
			))
		if err != nil {
			t.Fatal(err)
		}
		s.Start()
	}
	<-done
	<-done
	if n := runs.Load(); n != 1 {
		t.Errorf("the job ran %d times", n)
	}
}
