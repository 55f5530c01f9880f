package holdfast_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/memlock"
)

// A release before the minimum hold is over tells the truth like any other, whether the backend leaves claims alone or
// not, and also when a renewal is under way that will tell of the loss.
func TestLossBeforeTheLeastTime(t *testing.T) {
	for name, detach := range map[string]bool{"left alone": true, "kept": false} {
		const renewal = ttl/3 - 200*time.Millisecond
		for when, pause := range map[string]time.Duration{"at once": 0, "during a renewal": renewal} {
			t.Run(name+", "+when, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					store := memlock.New()
					l := overLine(store)
					a := newClient(t, withTraits{l, func(tr *driver.Traits) { tr.Detach = detach }})
					b := newClient(t, store.Client())
					lease := must(a.Mutex("tick", holdfast.WithMinHold(time.Hour)).Lock(t.Context()))(t)
					if pause > 0 {
						time.Sleep(pause)
						l.set(faults{slow: time.Second})
					}
					if err := b.Break(t.Context(), "tick", queued(t, b, "tick")[0].ID); err != nil {
						t.Fatal(err)
					}
					must(b.Mutex("tick").Lock(t.Context()))(t)
					if pause > 0 {
						time.Sleep(500 * time.Millisecond)
					}
					wantErr(t, lease.Release(t.Context()), holdfast.ErrLost)
				})
			})
		}
	}
}

// Close gives no lock back whose minimum hold is not over, whether the backend leaves claims alone or not.
func TestCloseBeforeTheLeastTime(t *testing.T) {
	for name, detach := range map[string]bool{"left alone": true, "kept": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := memlock.New()
				a := holdfast.New(withTraits{store, func(tr *driver.Traits) { tr.Detach = detach }})
				b := newClient(t, store.Client())
				must(a.Mutex("tick", holdfast.WithMinHold(time.Hour)).Lock(t.Context()))(t)
				start := time.Now()
				time.Sleep(time.Minute)
				go a.Close(t.Context())
				must(b.Mutex("tick").Lock(t.Context()))(t)
				if held := time.Since(start); held < time.Hour || held > time.Hour+time.Second {
					t.Errorf("it stayed taken for %v", held)
				}
			})
		})
	}
}

// What Close gives back before its owner has it is not kept for its minimum hold: nothing was done under it.
func TestCloseBeforeTheLeaseIsThereKeepsNothing(t *testing.T) {
	for name, observer := range map[string]func(*closingScope) holdfast.Observer{
		"while it enters the scope": func(s *closingScope) holdfast.Observer { return s },
		"while it is told of": func(s *closingScope) holdfast.Observer {
			return observeFunc(func(ctx context.Context, e holdfast.Event) {
				if e.Op == holdfast.OpAcquire {
					s.Enter(ctx, e)
				}
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := memlock.New()
				s := new(closingScope)
				s.client = newClient(t, store, holdfast.WithObserver(observer(s)))
				job := s.client.Mutex("tick", holdfast.WithMinHold(time.Hour))
				wantErr(t, must(job.Lock(t.Context()))(t).Err(), holdfast.ErrReleased)
				if !isFree(t, newClient(t, store.Client()).Mutex("tick")) {
					t.Error("the lock is taken")
				}
			})
		})
	}
}

// An observeFunc is an observer.
type observeFunc func(context.Context, holdfast.Event)

func (f observeFunc) Observe(ctx context.Context, e holdfast.Event) { f(ctx, e) }

// A release that is applied, and whose answer comes after the minimum hold, is no loss: the lock was held until it was
// released, and then for its minimum hold.
func TestLeastTimeWhoseAnswerIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, a, b := twoClients(t)
		lease := must(a.Mutex("tick", holdfast.WithMinHold(ttl/2)).Lock(t.Context()))(t)
		time.Sleep(ttl / 4)
		l.set(faults{mute: true})
		time.AfterFunc(time.Second, func() { l.set(faults{cut: true}) })
		time.AfterFunc(ttl/2, func() { l.set(faults{}) })
		wantErr(t, lease.Release(t.Context()), holdfast.ErrUnknown)
		wantErr(t, lease.Err(), holdfast.ErrReleased)
		must(b.Mutex("tick").Lock(t.Context()))(t)
	})
}

// A claim that is left alone again, because no answer came, ends when it would have ended the first time.
func TestLeastTimeIsNotStretched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, a, b := twoClients(t)
		const least = ttl
		lease := must(a.Mutex("tick", holdfast.WithMinHold(least)).Lock(t.Context()))(t)
		start := time.Now()
		time.Sleep(time.Second)
		l.set(faults{mute: true})
		time.AfterFunc(ttl/2, func() { l.set(faults{}) })
		if err := lease.Release(t.Context()); err != nil {
			t.Error(err)
		}
		must(b.Mutex("tick").Lock(t.Context()))(t)
		if took := time.Since(start); took < least || took > least+100*time.Millisecond {
			t.Errorf("it stayed taken for %v, want %v", took, least)
		}
	})
}

// What is left of a minimum hold may be less than the least TTL of the backend, which a claim is asked for then.
func TestMinHoldBelowTheLeastTTL(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const least, lowest = time.Minute, 10 * time.Second
		store := memlock.New()
		a := newClient(t, withTraits{store, func(tr *driver.Traits) { tr.MinTTL = lowest }})
		b := newClient(t, store.Client())
		lease := must(a.Mutex("tick", holdfast.WithMinHold(least)).Lock(t.Context()))(t)
		time.Sleep(least - time.Second)
		if err := lease.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		released := time.Now()
		must(b.Mutex("tick").Lock(t.Context()))(t)
		if taken := time.Since(released); taken != lowest {
			t.Errorf("it stayed taken for %v, want %v", taken, lowest)
		}
	})
}
