package holdfast_test

import (
	"context"
	"encoding/base64"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/memlock"
)

// kinds are locks of each kind, with what must not be held beside them.
var kinds = map[string]func(*holdfast.Client) (hold, beside holdfast.Locker){
	"mutex":  func(c *holdfast.Client) (_, _ holdfast.Locker) { return c.Mutex("m"), c.Mutex("m") },
	"writer": func(c *holdfast.Client) (_, _ holdfast.Locker) { return c.RWMutex("m"), c.RWMutex("m").Reader() },
	"reader": func(c *holdfast.Client) (_, _ holdfast.Locker) { return c.RWMutex("m").Reader(), c.RWMutex("m") },
	"permits": func(c *holdfast.Client) (_, _ holdfast.Locker) {
		return c.Semaphore("m", 3).Permits(2), c.Semaphore("m", 3).Permits(2)
	},
}

// isFree reports whether the lock can be had within a moment.
func isFree(t *testing.T, l holdfast.Locker) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	lease, err := l.Lock(ctx)
	if err == nil {
		lease.Release(t.Context())
	}
	return err == nil
}

func TestDetachedLockGoesOnElsewhere(t *testing.T) {
	for kind, locks := range kinds {
		t.Run(kind, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := memlock.New()
				first := holdfast.New(store.Client())
				lock, _ := locks(first)
				lease := must(lock.Lock(t.Context()))(t)
				handle := must(lease.Detach(t.Context()))(t)
				wantErr(t, lease.Err(), holdfast.ErrReleased)
				if err := errors.Join(lease.Release(t.Context()), first.Close(t.Context())); err != nil {
					t.Error(err)
				}

				time.Sleep(ttl - time.Second)
				second := newClient(t, store.Client())
				e := must(second.CheckHandle(t.Context(), handle))(t)
				if e.Token != lease.Token() || e.Left != time.Second {
					t.Errorf("checked: %+v", e)
				}
				_, beside := locks(second)
				resumed := must(second.Resume(t.Context(), handle))(t)
				if resumed.Token() != lease.Token() || resumed.Name() != "m" {
					t.Errorf("resumed %q under %d, want %d", resumed.Name(), resumed.Token(), lease.Token())
				}
				time.Sleep(3 * ttl)
				if err := resumed.Check(t.Context()); err != nil || isFree(t, beside) {
					t.Errorf("not kept once it was resumed: %v", err)
				}
				if err := resumed.Release(t.Context()); err != nil || !isFree(t, beside) {
					t.Errorf("not free after its release: %v", err)
				}
				_, err := second.Resume(t.Context(), handle)
				wantErr(t, err, holdfast.ErrLost)
				_, err = second.CheckHandle(t.Context(), handle)
				wantErr(t, err, holdfast.ErrLost)
			})
		})
	}
}

// Detach waits for the request of a Check that nobody waits for any more: it may still arrive, on a backend that does
// not tell which was sent first.
func TestDetachWaitsForCheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cable, _, b, lease := firstHolds(t)
		cable.set(faults{cut: true})
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		wantErr(t, lease.Check(ctx), context.DeadlineExceeded, holdfast.ErrUnavailable)
		sent := cable.count("request")
		cable.set(faults{})
		handle := make(chan string)
		go func() { handle <- must(lease.Detach(t.Context()))(t) }()
		synctest.Wait()
		if n := cable.count("request") - sent; n != 0 {
			t.Errorf("%d requests were sent while that of Check could still arrive", n)
		}
		if _, err := b.CheckHandle(t.Context(), <-handle); err != nil {
			t.Errorf("detached after that: %v", err)
		}
	})
}

func TestDetachedLockLivesForItsTTL(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a, b, lease := firstHolds(t)
		time.Sleep(ttl / 2)
		handle := must(lease.Detach(t.Context()))(t)
		time.Sleep(ttl - 2*time.Millisecond)
		if isFree(t, b.Mutex("m")) {
			t.Error("free before its TTL")
		}
		time.Sleep(2 * time.Millisecond)
		next := must(b.Mutex("m").TryLock(t.Context()))(t)
		if next.Token() <= lease.Token() {
			t.Errorf("token %d follows %d", next.Token(), lease.Token())
		}
		_, err := a.Resume(t.Context(), handle)
		wantErr(t, err, holdfast.ErrLost)
		if err := next.Err(); err != nil {
			t.Errorf("resuming an old handle touched the new holder: %v", err)
		}
	})
}

// A lease that could not be detached goes on.
func TestDetachThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cable, a, _, lease := firstHolds(t)
		cable.set(faults{cut: true})
		ctx, cancel := context.WithTimeout(t.Context(), ttl/4)
		defer cancel()
		_, err := lease.Detach(ctx)
		wantErr(t, err, holdfast.ErrUnknown, context.DeadlineExceeded)
		cable.set(faults{})
		time.Sleep(3 * ttl)
		if err := lease.Err(); err != nil {
			t.Errorf("the lease did not go on: %v", err)
		}

		cable.set(faults{mute: true})
		ctx, cancel = context.WithTimeout(t.Context(), ttl/4)
		defer cancel()
		_, err = lease.Detach(ctx)
		wantErr(t, err, holdfast.ErrUnknown, context.DeadlineExceeded)
		cable.set(faults{})
		time.Sleep(3 * ttl)
		if err := lease.Check(t.Context()); err != nil {
			t.Errorf("the lease did not go on after it was left alone: %v", err)
		}

		again := must(a.Mutex("r", holdfast.WithReentrant()).Lock(t.Context()))(t)
		must(a.Mutex("r", holdfast.WithReentrant()).Lock(again.Context()))(t)
		if _, err := again.Detach(t.Context()); err == nil {
			t.Error("a lock that is counted twice was detached")
		}
		lease.Release(t.Context())
		_, err = lease.Detach(t.Context())
		wantErr(t, err, holdfast.ErrReleased)
	})
}

func TestDetachPassesTheGateOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a, _, lease := firstHolds(t)
		got := make(chan *holdfast.Lease)
		go func() { got <- must(a.Mutex("m").Lock(t.Context()))(t) }()
		synctest.Wait()
		handle := must(lease.Detach(t.Context()))(t)
		resumed := must(a.Resume(t.Context(), handle))(t)
		select {
		case <-got:
			t.Error("a goroutine of this client overtook the detached lock")
		case <-time.After(2 * ttl):
		}
		resumed.Release(t.Context())
		(<-got).Release(t.Context())
	})
}

// attached returns a driver whose claims end together with their client.
func attached(d driver.Driver) driver.Driver {
	return withTraits{d, func(t *driver.Traits) { t.Detach = false }}
}

func TestDetachUnsupported(t *testing.T) {
	c := newClient(t, attached(memlock.New().Client()))
	lease := must(c.Mutex("m").Lock(t.Context()))(t)
	_, err := lease.Detach(t.Context())
	wantErr(t, err, errors.ErrUnsupported)
	if lease.Err() != nil {
		t.Errorf("the lease did not go on: %v", lease.Err())
	}
}

func TestResumeWhatIsNoHandle(t *testing.T) {
	_, a, _ := twoClients(t)
	good := must(must(a.Mutex("m").Lock(t.Context()))(t).Detach(t.Context()))(t)
	nameless := handleOf(`{"claim":"c","token":"2048","weight":1,"limit":1,"ttl":15000000000,"name":5}`)
	for _, bad := range []string{"", "m", "hf1.", "hf1.!!", "hf2" + good[3:], good[:len(good)-4], nameless} {
		_, err := a.Resume(t.Context(), bad)
		wantErr(t, err, holdfast.ErrInvalidHandle)
	}
}

func handleOf(text string) string { return "hf1." + base64.RawURLEncoding.EncodeToString([]byte(text)) }

// A handle with a number that no token is, as where its token was confused with another one, acquires nothing.
func TestResumeWithNoToken(t *testing.T) {
	_, a, b := twoClients(t)
	for _, token := range []string{"0", "1", "1023"} {
		text := `{"name":"bQ==","claim":"c","token":"` + token + `","weight":1,"limit":1,"ttl":15000000000}`
		_, err := a.Resume(t.Context(), handleOf(text))
		wantErr(t, err, holdfast.ErrInvalidHandle)
	}
	noneQueued(t, b, "m")
}

// A claim that is left alone is not renewed, whatever there is to learn of it, and nobody looks at it all the time.
func TestRevokedWhileDetaching(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, _, b, lease := firstHolds(t)
		lease.Revoked() // so that it listens
		synctest.Wait()
		l.set(faults{slow: time.Second})
		detached := make(chan error)
		go func() {
			_, err := lease.Detach(t.Context())
			detached <- err
		}()
		synctest.Wait()
		renewals := l.count("renew")
		if err := b.Revoke(t.Context(), "m"); err != nil {
			t.Fatal(err)
		}
		if err := <-detached; err != nil || l.count("renew") != renewals {
			t.Errorf("%v, and %d renewals beside that", err, l.count("renew")-renewals)
		}
	})
}

// Close gives back what could not be detached while it ran.
func TestCloseDuringDetach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, a, b, lease := firstHolds(t)
		lease.Context() // whose end somebody listens for
		synctest.Wait()
		l.set(faults{cut: true})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		go func() {
			if _, err := lease.Detach(ctx); err == nil {
				t.Error("it was detached without a backend")
			}
		}()
		time.AfterFunc(time.Second/2, func() { l.set(faults{refuse: errors.New("connection refused")}) })
		time.AfterFunc(2*time.Second, func() { l.set(faults{}) })
		synctest.Wait()
		bound, stop := context.WithTimeout(t.Context(), time.Hour)
		defer stop()
		if err := a.Close(bound); err != nil {
			t.Error(err)
		}
		noneQueued(t, b, "m")
	})
}

// Of a release and a detachment at the same time the release decides for how long the lock stays taken, whichever of
// their requests arrives last.
func TestReleaseBeforeTheLeastTimeWhileDetaching(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const least = 2 * ttl
		l, a, b := twoClients(t)
		lease := must(a.Mutex("m", holdfast.WithMinHold(least)).Lock(t.Context()))(t)
		start := time.Now()
		l.set(faults{late: time.Second})
		detached := make(chan error)
		go func() {
			_, err := lease.Detach(t.Context())
			detached <- err
		}()
		synctest.Wait()
		l.set(faults{})
		if err := lease.Release(t.Context()); err != nil {
			t.Error(err)
		}
		if err := <-detached; err == nil {
			t.Error("it was detached, too")
		}
		must(b.Mutex("m").Lock(t.Context()))(t)
		if took := time.Since(start); took < least {
			t.Errorf("it stayed taken for %v, want %v", took, least)
		}
	})
}

// A lock that is detached within its minimum hold stays taken for that, if it is longer than the TTL and the backend
// lets a claim live for so long.
func TestDetachedLockLivesForItsMinimumHold(t *testing.T) {
	const short, long = ttl / 2, 4 * ttl
	for name, c := range map[string]struct{ least, most, stays time.Duration }{
		"shorter than the TTL":              {least: short, stays: ttl},
		"longer than the TTL":               {least: long, stays: long},
		"longer than the backend's longest": {least: long, most: 2 * ttl, stays: 2 * ttl},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := memlock.New()
				a := newClient(t, withTraits{store, func(tr *driver.Traits) { tr.MaxTTL = c.most }})
				b := newClient(t, store.Client())
				lease := must(a.Mutex("m", holdfast.WithMinHold(c.least)).Lock(t.Context()))(t)
				start := time.Now()
				must(lease.Detach(t.Context()))(t)
				must(b.Mutex("m").Lock(t.Context()))(t)
				if took := time.Since(start); took < c.stays || took > c.stays+100*time.Millisecond {
					t.Errorf("it stayed taken for %v, want %v", took, c.stays)
				}
			})
		})
	}
}

// A copy of a request to leave the claim alone that comes after the release does not end the minimum hold: be it of a
// detachment that the release overtook, or of a renewal after one that nobody answered.
func TestLateCopiesWithinTheMinimumHold(t *testing.T) {
	const least = 2 * ttl
	for name, detach := range map[string]func(*testing.T, *line, *holdfast.Lease){
		"of a detachment that is overtaken": func(t *testing.T, l *line, lease *holdfast.Lease) {
			l.set(faults{late: time.Second, again: ttl / 2})
			go lease.Detach(t.Context())
			synctest.Wait()
		},
		"of a renewal after one that is not answered": func(t *testing.T, l *line, lease *holdfast.Lease) {
			l.set(faults{mute: true})
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			again := func() { l.set(faults{again: ttl / 2}) }
			time.AfterFunc(time.Second-1, again) // just before the renewal
			renewed := l.count("renew")
			_, err := lease.Detach(ctx)
			wantErr(t, err, holdfast.ErrUnknown)
			synctest.Wait()
			if l.count("renew") == renewed {
				t.Error("it is not renewed")
			}
		},
		"of a check after one that is not answered": func(t *testing.T, l *line, lease *holdfast.Lease) {
			l.set(faults{mute: true})
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_, err := lease.Detach(ctx)
			wantErr(t, err, holdfast.ErrUnknown)
			l.set(faults{})
			synctest.Wait()
			l.set(faults{again: ttl / 2})
			if err := lease.Check(t.Context()); err != nil {
				t.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, a, b := twoClients(t)
				lease := must(a.Mutex("m", holdfast.WithMinHold(least)).Lock(t.Context()))(t)
				start := time.Now()
				detach(t, l, lease)
				l.set(faults{})
				if err := lease.Release(t.Context()); err != nil {
					t.Error(err)
				}
				must(b.Mutex("m").Lock(t.Context()))(t)
				if took := time.Since(start); took < least {
					t.Errorf("it stayed taken for %v, want %v", took, least)
				}
			})
		})
	}
}

// A lease that could not be detached within its minimum hold is renewed, and trusted, by its TTL as before, so that
// its loss shows as soon.
func TestDetachThatFailsWithinTheMinimumHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, a, b := twoClients(t)
		lease := must(a.Mutex("m", holdfast.WithMinHold(100*ttl)).Lock(t.Context()))(t)
		l.set(faults{mute: true})
		ctx, cancel := context.WithTimeout(t.Context(), ttl/4)
		defer cancel()
		_, err := lease.Detach(ctx)
		wantErr(t, err, holdfast.ErrUnknown)
		l.set(faults{})
		time.Sleep(3 * ttl)
		if err := lease.Check(t.Context()); err != nil {
			t.Errorf("the lease did not go on: %v", err)
		}
		if left := time.Until(lease.ValidUntil()); left > ttl {
			t.Errorf("it is trusted for %v, its TTL is %v", left, ttl)
		}
		if err := b.Break(t.Context(), "m", queued(t, b, "m")[0].ID); err != nil {
			t.Fatal(err)
		}
		time.Sleep(ttl / 2)
		wantErr(t, lease.Err(), holdfast.ErrLost)
	})
}

// A claim that is about to be left alone is handed to no other goroutine when its lease is released meanwhile: the
// request under way may leave it to its TTL, whoever has it by then.
func TestDetachingIsNotHandedOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, a, _, lease := firstHolds(t)
		next := make(chan *holdfast.Lease)
		go func() { next <- must(a.Mutex("m").Lock(t.Context()))(t) }()
		synctest.Wait()
		l.set(faults{late: time.Second})
		detached := make(chan error)
		go func() {
			_, err := lease.Detach(t.Context())
			detached <- err
		}()
		synctest.Wait()
		l.set(faults{})
		if err := lease.Release(t.Context()); err != nil {
			t.Error(err)
		}
		if err := <-detached; err == nil {
			t.Error("it was detached, too")
		}
		const handOffs = 8 // bits of a token
		if other := <-next; other.Token()>>handOffs == lease.Token()>>handOffs {
			t.Error("the claim that was being detached went to another goroutine")
		}
	})
}

// A detachment that ends while a renewal is not answered holds nothing up: other leases end in time.
func TestDetachThatEndsBeforeTheRenewal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cable, a, b := twoClients(t)
		lease := must(a.Mutex("m").Lock(t.Context()))(t)
		beside := must(b.Mutex("beside").Lock(t.Context()))(t)
		cable.set(faults{cut: true})
		time.Sleep(ttl/3 + time.Millisecond) // a renewal is under way
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if _, err := lease.Detach(ctx); !errors.Is(err, holdfast.ErrUnknown) {
			t.Errorf("Detach: %v", err)
		}
		time.Sleep(time.Millisecond) // which it never does while somebody is busy
		cable.set(faults{})
		time.Sleep(2 * ttl)
		if err := errors.Join(lease.Err(), beside.Err()); err != nil {
			t.Error(err)
		}
	})
}

// A lease that ends as it is being detached is lost, and no handle of it is worth anything.
func TestDetachAsTheHoldEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lease *holdfast.Lease
		d := onRequests(memlock.New(), func(_ context.Context, op driver.Op, next next) driver.Result {
			r := next(op)
			if op.Claim.Detached { // it lives on by itself, which the client does not know yet
				holdfast.EndHold(lease)
			}
			return r
		})
		lease = must(newClient(t, d).Mutex("m").Lock(t.Context()))(t)
		handle, err := lease.Detach(t.Context())
		wantErr(t, err, holdfast.ErrLost)
		if handle != "" {
			t.Errorf("the handle is %q", handle)
		}
	})
}

// Who takes up a lease is as patient with a backend that is away as who waits for a lock.
func TestResumeOutlastsAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cable, a, b := twoClients(t)
		handle := must(must(b.Mutex("m", holdfast.WithTTL(time.Hour)).Lock(t.Context()))(t).Detach(t.Context()))(t)
		cable.set(faults{refuse: driver.ErrUnsent})
		time.AfterFunc(ttl, func() { cable.set(faults{}) })
		lease, err := a.Resume(t.Context(), handle)
		if err != nil {
			t.Fatal(err)
		}
		if err := lease.Release(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
