package kubelock_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/tools/leaderelection"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/adapters/kubelock"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/batch"
	"github.com/holdfast-go/holdfast/memlock"
)

// A candidate runs a real LeaderElector.
type candidate struct {
	lock    *kubelock.Lock
	client  *holdfast.Client
	leads   atomic.Bool
	lost    chan struct{} // closed when the lease ends
	stopped chan struct{} // closed when the elector has
	seen    atomic.Value  // the leader that it was told of last
	stop    context.CancelFunc
}

func campaign(t *testing.T, d driver.Driver, identity string, release bool) *candidate {
	t.Helper()
	client := holdfast.New(d)
	ctx, cancel := context.WithCancel(context.Background())
	c := &candidate{
		lock: kubelock.New(client, "controller", identity), client: client,
		lost: make(chan struct{}), stopped: make(chan struct{}), stop: cancel,
	}
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: c.lock, Name: "controller", ReleaseOnCancel: release,
		LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) {
				c.leads.Store(true)
				lease, _ := c.lock.Lease()
				<-lease.Done()
				close(c.lost)
			},
			OnStoppedLeading: func() { c.leads.Store(false) },
			OnNewLeader:      func(leader string) { c.seen.Store(leader) },
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(c.stopped)
		elector.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-c.stopped
		client.Close(context.Background())
	})
	return c
}

func TestElectors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memlock.New()
		first := campaign(t, store.Client(), "one", true)
		time.Sleep(time.Second)
		second := campaign(t, store.Client(), "two", true)
		time.Sleep(time.Hour)
		if !first.leads.Load() || second.leads.Load() {
			t.Fatalf("after an hour the first leads: %v, the second: %v", first.leads.Load(), second.leads.Load())
		}
		if seen := second.seen.Load(); seen != "one" {
			t.Errorf("the second sees %v lead", seen)
		}
		first.stop()
		<-first.stopped
		time.Sleep(10 * time.Second)
		if first.leads.Load() || !second.leads.Load() {
			t.Errorf("who resigned leads: %v, the other: %v", first.leads.Load(), second.leads.Load())
		}
	})
}

// An elector that stops without giving its lead back leaves it to the TTL: its work may still be under way. That is so
// too on a backend that cannot leave a claim alone.
func TestLeadThatIsNotReleased(t *testing.T) {
	for name, client := range map[string]func(*memlock.Driver) driver.Driver{
		"left alone": func(store *memlock.Driver) driver.Driver { return store.Client() },
		"kept":       func(store *memlock.Driver) driver.Driver { return attached{store.Client()} },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := memlock.New()
				first := campaign(t, client(store), "one", false)
				time.Sleep(time.Second)
				first.stop()
				<-first.stopped
				second := campaign(t, store.Client(), "two", true)
				time.Sleep(25 * time.Second)
				if second.leads.Load() {
					t.Error("another leads before the LeaseDuration is over")
				}
				time.Sleep(15 * time.Second)
				if !second.leads.Load() {
					t.Error("nobody leads")
				}
			})
		})
	}
}

type attached struct{ driver.Driver }

func (a attached) Traits() driver.Traits {
	t := a.Driver.Traits()
	t.Detach = false
	return t
}

// An away is a backend that can be cut off: from what is asked, or only from whoever waits for the answer.
type away struct {
	driver.Driver
	store     driver.Driver
	cut, mute atomic.Bool
	swallow   atomic.Bool // the next question
}

func newAway(store driver.Driver) *away {
	a := &away{store: store}
	a.Driver = batch.Intercept(store, a.pass)
	return a
}

func (a *away) pass(ctx context.Context, op driver.Op, next func(driver.Op) driver.Result) driver.Result {
	if a.mute.Load() {
		next(op)
	}
	if a.mute.Load() || a.cut.Load() || a.swallow.Swap(false) {
		<-ctx.Done()
		return driver.Result{Err: ctx.Err()}
	}
	return next(op)
}

// Subscribe implements [driver.Driver]. What would be told while the backend is cut off is lost.
func (a *away) Subscribe(tell func(driver.Event)) (stop func()) {
	return a.store.Subscribe(func(e driver.Event) {
		if !a.cut.Load() && !a.mute.Load() {
			tell(e)
		}
	})
}

// A leader that is cut off has stopped before another leads, also where what it asks still arrives.
func TestLeaderIsCutOff(t *testing.T) {
	for name, which := range map[string]func(*away) *atomic.Bool{
		"both ways": func(line *away) *atomic.Bool { return &line.cut },
		"one way":   func(line *away) *atomic.Bool { return &line.mute },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := memlock.New()
				line := newAway(store.Client())
				first := campaign(t, line, "one", true)
				time.Sleep(time.Second)
				second := campaign(t, store.Client(), "two", true)
				which(line).Store(true)
				for began := time.Now(); !second.leads.Load(); time.Sleep(100 * time.Millisecond) {
					if time.Since(began) > time.Minute {
						t.Fatal("nobody took over")
					}
				}
				if first.leads.Load() {
					t.Error("two lead")
				}
				which(line).Store(false)
			})
		})
	}
}

// One answer that is lost costs no lead.
func TestOneAnswerIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		line := newAway(memlock.New())
		first := campaign(t, line, "one", true)
		time.Sleep(time.Minute)
		for range 100 {
			line.swallow.Store(true)
			time.Sleep(time.Minute + 100*time.Millisecond)
		}
		if !first.leads.Load() {
			t.Error("it leads no more")
		}
	})
}

// A candidate that was cut off as it looked who leads is one again afterwards.
func TestCandidateIsCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memlock.New()
		first := campaign(t, store.Client(), "one", true)
		time.Sleep(time.Second)
		line := newAway(store.Client())
		second := campaign(t, line, "two", true)
		line.cut.Store(true)
		time.Sleep(time.Minute)
		line.cut.Store(false)
		first.stop()
		time.Sleep(time.Minute)
		if !second.leads.Load() {
			t.Error("nobody leads")
		}
	})
}

// A lead that is taken away is known to its lease at once, and to the elector within its RenewDeadline; until then the
// candidate does not lead anew, though nobody else does.
func TestLeadIsTakenAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memlock.New()
		first := campaign(t, store.Client(), "one", true)
		time.Sleep(time.Second)
		lease, _ := first.lock.Lease()
		queue, err := first.client.Queue(t.Context(), "controller")
		if err != nil {
			t.Fatal(err)
		}
		if err := first.client.Break(t.Context(), "controller", queue[0].ID); err != nil {
			t.Fatal(err)
		}
		<-first.lost
		if !errors.Is(lease.Err(), holdfast.ErrLost) {
			t.Errorf("the lease ended with %v", lease.Err())
		}
		time.Sleep(time.Hour)
		select {
		case <-first.stopped:
		default:
			t.Fatal("the elector leads on")
		}
		if queue, err := first.client.Queue(t.Context(), "controller"); len(queue) > 0 || err != nil {
			t.Errorf("the same elector led again: %v, %v", queue, err)
		}
	})
}
