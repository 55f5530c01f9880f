package gocronlock_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-co-op/gocron/v2"
	"github.com/google/uuid"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/adapters/gocronlock"
	"github.com/holdfast-go/holdfast/memlock"
)

// start runs a job once at once, and returns where its error comes.
func start(t *testing.T, task gocron.Task, with gocron.SchedulerOption) <-chan error {
	t.Helper()
	s, err := gocron.NewScheduler(with)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Shutdown() })
	ended := make(chan error, 1)
	_, err = s.NewJob(gocron.OneTimeJob(gocron.OneTimeJobStartImmediately()), task, gocron.WithName("job"),
		gocron.WithEventListeners(
			gocron.AfterJobRuns(func(uuid.UUID, string) { ended <- nil }),
			gocron.AfterJobRunsWithError(func(_ uuid.UUID, _ string, err error) { ended <- err }),
			gocron.AfterLockError(func(_ uuid.UUID, _ string, err error) { ended <- err }),
		))
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	return ended
}

// A job gets the lease of its run, under a name that is the locker's own, in a context that carries it.
func TestTaskGetsTheLease(t *testing.T) {
	client := newClient(t, memlock.New())
	locker := gocronlock.NewLocker(client, time.Hour).WithPrefix("reports/")
	task := locker.Task(func(ctx context.Context, l *holdfast.Lease) error {
		if carried, ok := holdfast.LeaseFrom(ctx); !ok || carried != l || l.Name() != "reports/job" || l.Err() != nil {
			t.Errorf("the run has %v of %q, %v", carried, l.Name(), l.Err())
		}
		return nil
	})
	if err := <-start(t, task, gocron.WithDistributedLocker(locker)); err != nil {
		t.Error(err)
	}
}

// A job whose lock is lost while it runs is told by its context, and fails.
func TestTaskLosesItsLock(t *testing.T) {
	client := newClient(t, memlock.New())
	locker := gocronlock.NewLocker(client, 0)
	task := locker.Task(func(ctx context.Context, l *holdfast.Lease) error {
		queue, err := client.Queue(ctx, l.Name())
		if err != nil {
			return err
		}
		if err := client.Break(ctx, l.Name(), queue[0].ID); err != nil {
			return err
		}
		<-ctx.Done()
		if !errors.Is(context.Cause(ctx), holdfast.ErrLost) {
			t.Errorf("the context ended with %v", context.Cause(ctx))
		}
		return nil
	})
	if err := <-start(t, task, gocron.WithDistributedLocker(locker)); !errors.Is(err, holdfast.ErrLost) {
		t.Errorf("the job ended with %v", err)
	}
}

// A job whose lock ends because the client closes, or the elector, has failed, too: others may have run beside it.
func TestTaskWhoseLockIsGivenBack(t *testing.T) {
	client := newClient(t, memlock.New())
	locker := gocronlock.NewLocker(client, 0)
	task := locker.Task(func(context.Context, *holdfast.Lease) error { return client.Close(context.Background()) })
	if err := <-start(t, task, gocron.WithDistributedLocker(locker)); !errors.Is(err, holdfast.ErrClosed) {
		t.Errorf("whose client closed ended with %v", err)
	}
	synctest.Test(t, func(t *testing.T) {
		elector := gocronlock.NewElector(newClient(t, memlock.New()), "cron", "one")
		synctest.Wait()
		task := elector.Task(func(context.Context, *holdfast.Lease) error { elector.Close(); return nil })
		if err := <-start(t, task, gocron.WithDistributedElector(elector)); !errors.Is(err, holdfast.ErrReleased) {
			t.Errorf("whose elector closed ended with %v", err)
		}
	})
}

// A job of a scheduler without the locker does not run.
func TestTaskWithoutLock(t *testing.T) {
	locker := gocronlock.NewLocker(newClient(t, memlock.New()), 0)
	other := gocronlock.NewLocker(newClient(t, memlock.New()), 0)
	var ran atomic.Bool
	task := locker.Task(func(context.Context, *holdfast.Lease) error {
		ran.Store(true)
		return nil
	})
	if err := <-start(t, task, gocron.WithDistributedLocker(other)); err == nil || ran.Load() {
		t.Errorf("it ran: %v, %v", ran.Load(), err)
	}
}

// A job of who leads gets the lease of the lead, and does not run under one that is over.
func TestTaskOfTheLeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		elector := gocronlock.NewElector(newClient(t, memlock.New()), "cron", "one")
		synctest.Wait()
		task := elector.Task(func(ctx context.Context, l *holdfast.Lease) error {
			go elector.Close()
			<-ctx.Done()
			return l.Err()
		})
		if err := <-start(t, task, gocron.WithDistributedElector(elector)); !errors.Is(err, holdfast.ErrReleased) {
			t.Errorf("who resigned while the job ran: %v", err)
		}
		synctest.Wait()
		if err := <-start(t, task, alwaysLeads()); err == nil {
			t.Error("it ran under no lead")
		}
	})
}

type leads struct{}

func (leads) IsLeader(context.Context) error { return nil }

func alwaysLeads() gocron.SchedulerOption { return gocron.WithDistributedElector(leads{}) }
