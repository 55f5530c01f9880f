package holdfast_test

import (
	"context"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/memlock"
)

// held counts what an observer believes to be held.
func (r *recorder) held() (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.events {
		switch {
		case e.Op == holdfast.OpAcquire && e.Err == nil:
			n++
		case e.Op == holdfast.OpRelease, e.Op == holdfast.OpLose:
			n--
		}
	}
	return n
}

// Each acquisition that an observer sees succeed has one end, whatever ends the lease.
func TestEventsPair(t *testing.T) {
	for what, play := range map[string]func(t *testing.T, l *line, c *holdfast.Client, lease *holdfast.Lease){
		"released": func(t *testing.T, _ *line, _ *holdfast.Client, lease *holdfast.Lease) {
			lease.Release(t.Context())
			lease.Release(t.Context())
		},
		"counted": func(t *testing.T, _ *line, c *holdfast.Client, lease *holdfast.Lease) {
			inner := must(c.Mutex("m", holdfast.WithReentrant()).Lock(lease.Context()))(t)
			inner.Release(t.Context())
			lease.Release(t.Context())
		},
		"counted and lost": func(t *testing.T, l *line, c *holdfast.Client, lease *holdfast.Lease) {
			inner := must(c.Mutex("m", holdfast.WithReentrant()).Lock(lease.Context()))(t)
			l.set(faults{cut: true})
			<-lease.Done()
			inner.Release(t.Context())
			lease.Release(t.Context())
		},
		"lost, unseen": func(t *testing.T, l *line, _ *holdfast.Client, _ *holdfast.Lease) {
			l.set(faults{cut: true})
			time.Sleep(2 * ttl)
		},
		"lost by a look": func(t *testing.T, _ *line, _ *holdfast.Client, lease *holdfast.Lease) {
			holdfast.Suspend(t, time.Hour)
			wantErr(t, lease.Err(), holdfast.ErrLost)
		},
		"detached and resumed": func(t *testing.T, _ *line, c *holdfast.Client, lease *holdfast.Lease) {
			handle := must(lease.Detach(t.Context()))(t)
			must(c.Resume(t.Context(), handle))(t).Release(t.Context())
		},
		"closed": func(t *testing.T, _ *line, c *holdfast.Client, lease *holdfast.Lease) {
			c.Close(t.Context())
			lease.Release(t.Context())
		},
		"closed without a backend": func(t *testing.T, l *line, c *holdfast.Client, lease *holdfast.Lease) {
			l.set(faults{cut: true})
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			c.Close(ctx)
			lease.Release(t.Context())
		},
		"held for too long": func(t *testing.T, _ *line, c *holdfast.Client, lease *holdfast.Lease) {
			brief := must(c.Mutex("n", holdfast.WithMaxHold(time.Second)).Lock(t.Context()))(t)
			<-brief.Done()
			brief.Release(t.Context())
			lease.Release(t.Context())
		},
		"held for no time at all": func(t *testing.T, _ *line, c *holdfast.Client, lease *holdfast.Lease) {
			for range 100 {
				must(c.Mutex("n", holdfast.WithMaxHold(1)).Lock(t.Context()))(t).Release(t.Context())
			}
			lease.Release(t.Context())
		},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var r recorder
				l := overLine(memlock.New())
				c := newClient(t, l, holdfast.WithObserver(&r))
				lease := must(c.Mutex("m", holdfast.WithReentrant()).Lock(t.Context()))(t)
				synctest.Wait()
				if n := r.held(); n != 1 {
					t.Errorf("%d are held at first, want 1", n)
				}
				play(t, l, c, lease)
				synctest.Wait()
				if n := r.held(); n != 0 {
					t.Errorf("%d are held in the end, want none: %+v", n, r.events)
				}
			})
		})
	}
}

// A driver's panic in a release is an end, too.
func TestEventsPairAfterAPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r recorder
		d := newBuggy(memlock.New())
		lease := must(newClient(t, d, holdfast.WithObserver(&r)).Mutex("m").Lock(t.Context()))(t)
		d.arm("release")
		caught(t, func() { lease.Release(t.Context()) })
		synctest.Wait()
		if n := r.held(); n != 0 || r.events[1].Outcome() != "unknown" {
			t.Errorf("%d are held in the end, want none: %+v", n, r.events)
		}
	})
}

// A closing scope has its client closed while a lock is being handed to its owner.
type closingScope struct {
	recorder
	client *holdfast.Client
}

func (s *closingScope) Enter(ctx context.Context, _ holdfast.Event) (context.Context, func(holdfast.Event)) {
	go s.client.Close(context.Background())
	synctest.Wait()
	return ctx, nil
}

// What Close gives back before its owner has it was not lost.
func TestCloseBeforeTheLeaseIsThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(closingScope)
		s.client = newClient(t, memlock.New(), holdfast.WithObserver(s))
		wantErr(t, must(s.client.Mutex("m").Lock(t.Context()))(t).Err(), holdfast.ErrReleased)
		synctest.Wait()
		if n := len(s.events); n != 2 || s.held() != 0 {
			t.Fatalf("want two events, got %+v", s.events)
		}
		for _, e := range s.events {
			if e.Op == holdfast.OpLose || e.Err != nil {
				t.Errorf("the observer was told of %+v", e)
			}
		}
	})
}

// What a slow observer misses is counted, and takes no memory.
func TestMissedEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const most, more = 4096, 100
		s := newStuck()
		var r recorder
		l := overLine(memlock.New())
		c := newClient(t, l, holdfast.WithObserver(observers{s, &r}))
		var leases holdfast.Leases
		for range 1 + most + more {
			leases = append(leases, must(c.Mutex(strconv.Itoa(len(leases))).Lock(t.Context()))(t))
		}
		if err := c.Break(t.Context(), "0", queued(t, c, "0")[0].ID); err != nil {
			t.Fatal(err)
		}
		leases[0].Done() // so that the loss is learned at once
		<-s.taken        // and the observer is stuck with it
		l.set(faults{cut: true})
		for _, lease := range leases {
			<-lease.Done()
		}
		synctest.Wait() // until all were told, or dropped
		close(s.free)
		synctest.Wait()
		leases[0].Release(t.Context())
		l.set(faults{})
		last := must(c.Mutex("other", holdfast.WithMaxHold(time.Second)).Lock(t.Context()))(t)
		<-last.Done()
		synctest.Wait()
		lost, missed := 0, 0
		for _, e := range r.events {
			if e.Op == holdfast.OpLose {
				lost++
			}
			missed += e.Missed
		}
		if lost != 1+most+1 || missed != more {
			t.Errorf("%d losses were told and %d missed, want %d and %d", lost, missed, 1+most+1, more)
		}
	})
}

type observers []holdfast.Observer

func (os observers) Observe(ctx context.Context, e holdfast.Event) {
	for _, o := range os {
		o.Observe(ctx, e)
	}
}
