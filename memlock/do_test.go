package memlock_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/batch"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/memlock"
)

// The whole contract holds behind a Sender that gathers, and behind an interceptor, too.
func TestDriverBehindSender(t *testing.T) {
	for name, intercepted := range map[string]bool{"gathered": false, "intercepted": true} {
		t.Run(name, func(t *testing.T) {
			drivertest.Run(t, drivertest.Harness{Virtual: func() func(testing.TB) driver.Driver {
				store := memlock.New()
				return func(t testing.TB) driver.Driver {
					d := driver.Driver(store.Client())
					if intercepted {
						d = batch.Intercept(d, pass)
					}
					d = drivertest.Gather(d, 1, 1)
					t.Cleanup(func() { d.Close() })
					return d
				}
			}})
		})
	}
}

func pass(_ context.Context, op driver.Op, next func(driver.Op) driver.Result) driver.Result {
	return next(op)
}

// The follower of a claim is told of its turn and of its end, though nobody uses the store then.
func TestEventsComeByThemselves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := memlock.New()
		type told struct {
			after time.Duration
			event driver.Event
		}
		var all []told
		began := time.Now()
		stop := d.Subscribe(func(e driver.Event) { all = append(all, told{time.Since(began), e}) })
		send := func(op driver.Op) {
			d.Do(t.Context(), []driver.Op{op}, func(_ int, r driver.Result) {
				if r.Err != nil {
					t.Errorf("%v: %v", op.Kind, r.Err)
				}
			})
		}
		holder, next := mutex("holder"), mutex("next")
		holder.TTL, next.TTL = 10*time.Second, 30*time.Second
		send(driver.Op{Kind: driver.OpRequest, Claim: holder, Follow: true})
		send(driver.Op{Kind: driver.OpRequest, Claim: next})
		send(driver.Op{Kind: driver.OpWatch, Claim: holder})
		time.Sleep(time.Minute)
		synctest.Wait()
		want := []told{
			{10 * time.Second, driver.Event{Name: "m", ID: "holder", Err: driver.ErrGone}},
			{10 * time.Second, driver.Event{Name: "m", ID: "next"}},
			{10 * time.Second, driver.Event{Name: "m"}}, // and nothing of next, which did not say Follow
		}
		for i := range all {
			if st := all[i].event.Status; all[i].event.ID == "next" && (!st.Granted || st.Token == 0) {
				t.Errorf("the turn of next is told as %+v", st)
			}
			all[i].event.Status = driver.Status{}
		}
		if !slices.Equal(all, want) {
			t.Errorf("told %+v,\nwant %+v", all, want)
		}
		stop()
		send(driver.Op{Kind: driver.OpWatch, Claim: holder})
		send(driver.Op{Kind: driver.OpRequest, Claim: mutex("last")})
		if len(all) > len(want) {
			t.Errorf("told %+v after stop", all[len(want):])
		}
	})
}

// A closed client is told nothing, and keeps no lock from being forgotten.
func TestClosedClientIsToldNothing(t *testing.T) {
	store := memlock.New()
	d := store.Client()
	d.Subscribe(func(e driver.Event) { t.Errorf("told %+v", e) })
	none := func(int, driver.Result) {}
	claim := mutex("holder")
	d.Do(t.Context(), []driver.Op{{Kind: driver.OpRequest, Claim: claim, Follow: true}}, none)
	d.Do(t.Context(), []driver.Op{{Kind: driver.OpWatch, Claim: claim}}, none)
	d.Close()
	release(t, drivertest.NewFacade(store), claim)
}

// A client that releases a claim knows that it has ended; another one that follows it is told.
func TestOwnReleaseIsNoNews(t *testing.T) {
	store := memlock.New()
	own, other := store.Client(), store.Client()
	own.Subscribe(func(e driver.Event) { t.Errorf("the client was told %+v", e) })
	var told []driver.Event
	other.Subscribe(func(e driver.Event) { told = append(told, e) })
	none := func(int, driver.Result) {}
	claim := mutex("holder")
	for _, d := range []*memlock.Driver{own, other} {
		d.Do(t.Context(), []driver.Op{{Kind: driver.OpRequest, Claim: claim, Follow: true}}, none)
	}
	own.Do(t.Context(), []driver.Op{{Kind: driver.OpRelease, Claim: claim}}, none)
	if want := []driver.Event{{Name: "m", ID: "holder", Err: driver.ErrGone}}; !slices.Equal(told, want) {
		t.Errorf("the other client was told %+v, want %+v", told, want)
	}
}

// An operation whose context has ended is unsent.
func TestDoTooLate(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	memlock.New().Do(ctx, []driver.Op{{Kind: driver.OpRequest, Claim: mutex("late")}}, func(_ int, r driver.Result) {
		if !errors.Is(r.Err, driver.ErrUnsent) || !errors.Is(r.Err, context.Canceled) {
			t.Errorf("the error is %v", r.Err)
		}
	})
}
