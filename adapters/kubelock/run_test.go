package kubelock_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/adapters/kubelock"
	"github.com/holdfast-go/holdfast/memlock"
)

// A site counts the leaders that work at once.
type site struct{ working, most atomic.Int32 }

// elect describes a candidate whose work takes some time to end.
func (s *site) elect(lock resourcelock.Interface, drain time.Duration) leaderelection.LeaderElectionConfig {
	return leaderelection.LeaderElectionConfig{
		Lock: lock, Name: "controller", ReleaseOnCancel: true,
		LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) {
				s.most.Store(max(s.most.Load(), s.working.Add(1)))
				<-ctx.Done()
				time.Sleep(drain)
				s.working.Add(-1)
			},
			OnStoppedLeading: func() {},
		},
	}
}

// A lead is released once the work has ended, and not before, however long that takes; and then at once.
func TestRunDrains(t *testing.T) {
	const drain = time.Minute // longer than any TTL here
	synctest.Test(t, func(t *testing.T) {
		var s site
		store := memlock.New()
		one, two := newLock(t, store, "one"), newLock(t, store, "two")
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- kubelock.Run(ctx, s.elect(one, drain)) }()
		time.Sleep(5 * time.Second)
		next, stopNext := context.WithCancel(t.Context())
		nextEnded := make(chan error, 1)
		go func() { nextEnded <- kubelock.Run(next, s.elect(two, 0)) }()
		time.Sleep(5 * time.Second)
		stop()
		time.Sleep(drain - time.Second)
		if lease, leads := one.Lease(); !leads || lease.Err() != nil {
			t.Error("the lead has ended before the work")
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
		time.Sleep(5 * time.Second) // an elector asks every 2 s
		if _, leads := two.Lease(); !leads || s.most.Load() != 1 {
			t.Errorf("the next one leads: %v; at most %d worked at once", leads, s.most.Load())
		}
		stopNext()
		if err := <-nextEnded; err != nil {
			t.Error(err)
		}
	})
}

// A candidate that does not lead stops at once, and a leader whose work is over gives its lead back.
func TestRunStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s site
		store := memlock.New()
		one, two := newLock(t, store, "one"), newLock(t, store, "two")
		over := make(chan struct{})
		config := s.elect(one, 0)
		config.Callbacks.OnStartedLeading = func(context.Context) { <-over }
		ended := make(chan error, 1)
		go func() { ended <- kubelock.Run(t.Context(), config) }()
		time.Sleep(time.Second)
		ctx, stop := context.WithCancel(t.Context())
		waited := make(chan error, 1)
		go func() { waited <- kubelock.Run(ctx, s.elect(two, 0)) }()
		time.Sleep(time.Second)
		stop()
		if err := <-waited; err != nil || s.most.Load() != 0 {
			t.Errorf("who waited ends with %v, and %d of them worked", err, s.most.Load())
		}
		close(over)
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if _, leads := one.Lease(); leads {
			t.Error("the lead outlasts the work")
		}
	})
}

// A leader that loses its lead is told, and Run returns after its work.
func TestRunLosesTheLead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s site
		store := memlock.New()
		client := holdfast.New(store.Client())
		defer client.Close(context.Background())
		lock := kubelock.New(client, "controller", "one")
		ended := make(chan error, 1)
		go func() { ended <- kubelock.Run(t.Context(), s.elect(lock, time.Minute)) }()
		time.Sleep(time.Second)
		queue, err := client.Queue(t.Context(), "controller")
		if err != nil || len(queue) != 1 {
			t.Fatalf("queue %v, %v", queue, err)
		}
		if err := client.Break(t.Context(), "controller", queue[0].ID); err != nil {
			t.Fatal(err)
		}
		if err := <-ended; err != nil || s.working.Load() != 0 {
			t.Errorf("it ended with %v, while %d still worked", err, s.working.Load())
		}
	})
}

func newLock(t *testing.T, store *memlock.Driver, identity string) *kubelock.Lock {
	client := holdfast.New(store.Client())
	t.Cleanup(func() { client.Close(context.Background()) })
	return kubelock.New(client, "controller", identity)
}

// A configuration that is not valid is told.
func TestRunRefuses(t *testing.T) {
	if err := kubelock.Run(t.Context(), leaderelection.LeaderElectionConfig{}); err == nil {
		t.Error("an empty configuration runs")
	}
}
