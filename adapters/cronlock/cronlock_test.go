package cronlock_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/adapters/cronlock"
	"github.com/holdfast-go/holdfast/memlock"
)

func newClient(t testing.TB, store *memlock.Driver) *holdfast.Client {
	c := holdfast.New(store.Client())
	t.Cleanup(func() { c.Close(context.Background()) })
	return c
}

// A short job runs once for each tick, though the clock of one machine is late.
func TestOnceForEachTick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, runs := memlock.New(), 0
		job := func() *cronlock.Job {
			return &cronlock.Job{Client: newClient(t, store), Name: "report", Splay: 30 * time.Second,
				Do:     func(context.Context, *holdfast.Lease) error { runs++; return nil },
				Failed: func(err error) { t.Error(err) },
			}
		}
		early, late := job(), job()
		for tick := range 3 {
			early.Run()
			time.Sleep(29 * time.Second)
			late.Run()
			if runs != tick+1 {
				t.Fatalf("after tick %d: %d runs", tick, runs)
			}
			time.Sleep(31 * time.Second)
		}
	})
}

// Without a splay the minimum hold counts that the options of the job or of its client have.
func TestMinimumHoldAmongTheOptions(t *testing.T) {
	least := holdfast.WithMinHold(30 * time.Second)
	for name, options := range map[string]struct{ client, job []holdfast.Option }{
		"of the client": {client: []holdfast.Option{least}},
		"of the job":    {job: []holdfast.Option{least}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, runs := holdfast.New(memlock.New(), options.client...), 0
				defer client.Close(t.Context())
				job := &cronlock.Job{Client: client, Name: "report", Options: options.job,
					Do:     func(context.Context, *holdfast.Lease) error { runs++; return nil },
					Failed: func(err error) { t.Error(err) },
				}
				job.Run()
				time.Sleep(29 * time.Second)
				job.Run()
				if runs != 1 {
					t.Errorf("%d runs", runs)
				}
			})
		})
	}
}

// A job whose lock is lost while it runs is told by its context, and fails.
func TestLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var failed error
		(&cronlock.Job{Client: newClient(t, memlock.New()), Name: "report",
			Options: []holdfast.Option{holdfast.WithMaxHold(time.Minute)},
			Do: func(ctx context.Context, l *holdfast.Lease) error {
				<-ctx.Done()
				if carried, ok := holdfast.LeaseFrom(ctx); !ok || carried != l ||
					!errors.Is(context.Cause(ctx), holdfast.ErrLost) {
					t.Errorf("the context has %v and ended with %v", carried, context.Cause(ctx))
				}
				return nil
			},
			Failed: func(err error) { failed = err },
		}).Run()
		if !errors.Is(failed, holdfast.ErrLost) {
			t.Errorf("it failed with %v", failed)
		}
	})
}

func TestFailures(t *testing.T) {
	client, own := newClient(t, memlock.New()), errors.New("the printer is on fire")
	work := func(context.Context, *holdfast.Lease) error { return own }
	var failed error
	note := func(err error) { failed = err }
	(&cronlock.Job{Client: client, Name: "report", Do: work, Failed: note}).Run()
	if !errors.Is(failed, own) {
		t.Errorf("the error of the work became %v", failed)
	}
	for _, incomplete := range []*cronlock.Job{{Name: "report", Do: work}, {Client: client, Do: work},
		{Client: client, Name: "report"}} {
		failed, incomplete.Failed = nil, note
		if incomplete.Run(); failed == nil {
			t.Errorf("%+v was accepted", incomplete)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	failed = nil
	job := &cronlock.Job{Client: client, Name: "report", Do: work, Failed: note}
	if job.RunContext(ctx); !errors.Is(failed, context.Canceled) {
		t.Errorf("under a context that is over: %v", failed)
	}
}
