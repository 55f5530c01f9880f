package holdfast_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/memlock"
)

func TestElection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a, b := twoClients(t)
		_, err := b.Election("boss").Leader(t.Context())
		wantErr(t, err, holdfast.ErrNoLeader)

		ctx, cancel := context.WithCancel(t.Context())
		var seen []string
		var wg sync.WaitGroup
		wg.Go(func() {
			for leader, err := range b.Election("boss").Observe(ctx) {
				if err != nil && !errors.Is(err, holdfast.ErrNoLeader) {
					t.Error(err)
				}
				seen = append(seen, leader.Value)
			}
		})
		synctest.Wait()
		first := must(a.Election("boss").Campaign(t.Context(), "a:80"))(t)
		wg.Go(func() {
			second := must(a.Election("boss").Campaign(t.Context(), "b:80"))(t)
			time.Sleep(time.Minute)
			second.Release(t.Context())
		})
		time.Sleep(time.Minute)
		leader := must(b.Election("boss").Leader(t.Context()))(t)
		if leader.Value != "a:80" || leader.Token != first.Token() {
			t.Errorf("leader is %+v", leader)
		}
		first.Release(t.Context())
		time.Sleep(2 * time.Minute)
		cancel()
		wg.Wait()
		if want := []string{"", "a:80", "b:80", ""}; !slices.Equal(seen, want) {
			t.Errorf("observed %q, want %q", seen, want)
		}
	})
}

func TestElectionRunsAgainAfterLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a, b := twoClients(t)
		terms := 0
		retired := errors.New("retired")
		err := a.Election("boss").Run(t.Context(), "a", func(ctx context.Context, l *holdfast.Lease) error {
			terms++
			if terms == 3 {
				return retired
			}
			b.Break(t.Context(), "boss", queued(t, b, "boss")[0].ID)
			<-ctx.Done()
			return context.Cause(ctx)
		})
		wantErr(t, err, retired)
		if terms != 3 {
			t.Errorf("%d terms", terms)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err = a.Election("boss").Run(ctx, "a", func(ctx context.Context, _ *holdfast.Lease) error {
			<-ctx.Done()
			return ctx.Err()
		})
		wantErr(t, err, context.DeadlineExceeded)
	})
}

// A refusedToken is the error of a resource that has seen a greater token, as fence.ErrStale is.
type refusedToken struct{}

func (refusedToken) Error() string  { return "stale" }
func (refusedToken) LockLost() bool { return true }

// What lead itself says is never lost, though the lead was: it ends the candidacy unless it says no more than that.
func TestRunReturnsTheErrorOfLead(t *testing.T) {
	failed := errors.New("disk full")
	for _, row := range []struct {
		name string
		err  func(ctx context.Context) error
		ends bool
	}{
		{"nil", func(context.Context) error { return nil }, false},
		{"the context's error", context.Context.Err, false},
		{"the context's cause, wrapped", func(ctx context.Context) error {
			return fmt.Errorf("work: %w", context.Cause(ctx))
		}, false},
		{"another lock's end", func(ctx context.Context) error {
			return errors.Join(ctx.Err(), &holdfast.LostError{Name: "inner"})
		}, false},
		{"a stale token", func(context.Context) error { return fmt.Errorf("write: %w", refusedToken{}) }, false},
		{"its own", func(context.Context) error { return failed }, true},
		{"its own beside the context's", func(ctx context.Context) error {
			return errors.Join(ctx.Err(), failed)
		}, true},
		{"its own deadline", func(context.Context) error {
			return errors.Join(failed, context.DeadlineExceeded)
		}, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, a, b := twoClients(t)
				terms := 0
				err := a.Election("boss").Run(t.Context(), "a", func(ctx context.Context, l *holdfast.Lease) error {
					if terms++; terms == 2 {
						return nil
					}
					b.Break(t.Context(), "boss", queued(t, b, "boss")[0].ID)
					<-ctx.Done()
					return row.err(ctx)
				})
				switch {
				case row.ends:
					wantErr(t, err, failed, holdfast.ErrLost)
				case err != nil || terms != 2:
					t.Errorf("%d terms, then %v", terms, err)
				}
			})
		})
	}
}

// Who has led waits for a backend that is away, because it is not known for how long the lead was lost.
func TestElectionRunOutlastsAnOutage(t *testing.T) {
	leadsAgain(t, faults{cut: true}, holdfast.ErrUnknown)
}

// So it is where the requests do not leave this process.
func TestElectionRunOutlastsAServerThatRefusesConnections(t *testing.T) {
	leadsAgain(t, faults{refuse: driver.ErrUnsent}, holdfast.ErrUnavailable)
}

// leadsAgain lets an outage cost a leader the lead, which it has again afterwards. Who has not led is told of it.
func leadsAgain(t *testing.T, outage faults, told error) {
	synctest.Test(t, func(t *testing.T) {
		cable := overLine(memlock.New().Client())
		a := newClient(t, cable)
		terms := 0
		err := a.Election("boss").Run(t.Context(), "a", func(ctx context.Context, l *holdfast.Lease) error {
			if terms++; terms == 2 {
				return nil
			}
			cable.set(outage)
			<-ctx.Done()
			time.AfterFunc(time.Hour, func() { cable.set(faults{}) })
			return context.Cause(ctx)
		})
		if err != nil || terms != 2 {
			t.Errorf("%d terms, then %v", terms, err)
		}
		cable.set(outage)
		wantErr(t, a.Election("boss").Run(t.Context(), "a", nil), told)
	})
}

// Who breaks the claim of a candidate that waits frees its place in the line, and ends no candidacy: that of a leader
// whose claim is broken goes on, too.
func TestBrokenCandidateStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a, b := twoClients(t)
		leader := must(a.Election("boss").Campaign(t.Context(), "a"))(t)
		retired := errors.New("retired")
		ended := make(chan error, 1)
		lead := func(context.Context, *holdfast.Lease) error { return retired }
		go func() { ended <- b.Election("boss").Run(t.Context(), "b", lead) }()
		synctest.Wait()
		waiting := queued(t, a, "boss")[1].ID
		if err := a.Break(t.Context(), "boss", waiting); err != nil {
			t.Fatal(err)
		}
		time.Sleep(ttl)
		if q := queued(t, a, "boss"); len(q) != 2 || q[1].ID == waiting {
			t.Fatalf("the line is %+v; want the candidate in it again", q)
		}
		if err := leader.Release(t.Context()); err != nil {
			t.Error(err)
		}
		wantErr(t, <-ended, retired)
	})
}

// A logger that hangs does not keep who has led from leading again.
func TestStuckLoggerWhileCampaigningAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStuck()
		defer close(s.free)
		cable := overLine(memlock.New().Client())
		a := newClient(t, cable, holdfast.WithLogger(slog.New(s)))
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		terms := 0
		err := a.Election("boss").Run(ctx, "a", func(ctx context.Context, _ *holdfast.Lease) error {
			if terms++; terms == 2 {
				return nil
			}
			cable.set(faults{refuse: driver.ErrUnsent})
			<-ctx.Done()
			time.AfterFunc(5*ttl, func() { cable.set(faults{}) })
			return context.Cause(ctx)
		})
		if err != nil || terms != 2 {
			t.Errorf("%d terms, then %v", terms, err)
		}
	})
}

// Who stands in line stays a candidate through an outage.
func TestCandidateOutlastsOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cable, a, b := twoClients(t)
		lead := must(b.Election("boss").Campaign(t.Context(), "b"))(t)
		time.AfterFunc(ttl, func() { cable.set(faults{cut: true}) })
		time.AfterFunc(5*ttl, func() { cable.set(faults{refuse: driver.ErrRefused}) })
		time.AfterFunc(6*ttl, func() { cable.set(faults{}) })
		time.AfterFunc(10*ttl, func() { lead.Release(context.Background()) })
		led := false
		err := a.Election("boss").Run(t.Context(), "a", func(context.Context, *holdfast.Lease) error {
			led = true
			return nil
		})
		if err != nil || !led {
			t.Errorf("led: %t, %v", led, err)
		}
	})
}

// A lock that was lost under the lead is no lost lead.
func TestLossOfAnotherLockIsNoLostLead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a, b := twoClients(t)
		terms := 0
		err := a.Election("boss").Run(t.Context(), "a", func(ctx context.Context, _ *holdfast.Lease) error {
			if terms++; terms > 1 {
				return nil
			}
			return a.Mutex("inner").Do(ctx, func(ctx context.Context, _ *holdfast.Lease) error {
				b.Break(t.Context(), "inner", queued(t, b, "inner")[0].ID)
				<-ctx.Done()
				return nil
			})
		})
		wantErr(t, err, holdfast.ErrLost)
		if terms != 1 {
			t.Errorf("it led %d times", terms)
		}
	})
}

func TestRevoke(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a, b := twoClients(t)
		if err := b.Revoke(t.Context(), "m"); err != nil {
			t.Errorf("of a free lock: %v", err)
		}
		readers := []*holdfast.Lease{
			must(a.RWMutex("m").RLock(t.Context()))(t), must(b.RWMutex("m").RLock(t.Context()))(t),
		}
		go func() {
			for _, lease := range readers {
				<-lease.Revoked()
				if lease.Err() != nil {
					t.Errorf("revoked and lost: %v", lease.Err())
				}
				lease.Release(t.Context())
			}
		}()
		synctest.Wait()
		if err := b.Revoke(t.Context(), "m"); err != nil {
			t.Error(err)
		}
		start := time.Now()
		must(b.RWMutex("m").Lock(t.Context()))(t)
		if took := time.Since(start); took > time.Second {
			t.Errorf("the holders let go after %v", took)
		}
	})
}

// A holder that does not listen learns it from the next renewal; one that asks later finds the channel closed.
func TestRevokedBeforeAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, _, b, lease := firstHolds(t)
		b.Revoke(t.Context(), "m")
		time.Sleep(ttl)
		<-lease.Revoked()
	})
}

func TestLockAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memlock.New()
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour) // ends what waits for each other
		defer cancel()
		var wg sync.WaitGroup
		for i := range 20 {
			c := newClient(t, store.Client())
			readers := c.RWMutex("d").Reader()
			locks := []holdfast.Locker{c.Mutex("a"), c.RWMutex("b"), c.Semaphore("c", 2).Permits(2), readers}
			if i%2 == 1 {
				slices.Reverse(locks)
			}
			wg.Go(func() {
				leases := must(holdfast.LockAll(ctx, locks...))(t)
				if i%2 == 1 && leases[0].Name() != "d" {
					t.Errorf("leases are not in the order given: %q first", leases[0].Name())
				}
				time.Sleep(time.Second)
				if err := errors.Join(leases.Err(), leases.Release(t.Context())); err != nil {
					t.Error(err)
				}
			})
		}
		start := time.Now()
		wg.Wait()
		if took := time.Since(start); took != 20*time.Second {
			t.Errorf("20 sections of a second took %v", took)
		}
	})
}

func TestLockAllOrNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a, b := twoClients(t)
		must(b.Mutex("z").Lock(t.Context()))(t)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := holdfast.LockAll(ctx, a.Mutex("z"), a.Mutex("a"))
		wantErr(t, err, holdfast.ErrNotAcquired, context.DeadlineExceeded)
		must(b.Mutex("a").TryLock(t.Context()))(t)

		_, err = holdfast.LockAll(t.Context(), a.Mutex("x"), a.Mutex("y"), a.Mutex("x"))
		wantErr(t, err, holdfast.ErrDeadlock)
		must(b.Mutex("x").TryLock(t.Context()))(t)
	})
}

func TestTryCampaign(t *testing.T) {
	store := memlock.New()
	a, b := newClient(t, store.Client()), newClient(t, store.Client())
	lease, err := a.Election("cron").TryCampaign(t.Context(), "one")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Election("cron").TryCampaign(t.Context(), "two"); !errors.Is(err, holdfast.ErrNotAcquired) {
		t.Errorf("the second got %v", err)
	}
	if leader, err := b.Election("cron").Leader(t.Context()); err != nil || leader.Value != "one" {
		t.Errorf("%q leads, %v", leader.Value, err)
	}
	if err := lease.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
}
