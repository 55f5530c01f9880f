package holdfast_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/memlock"
)

const ttl = holdfast.DefaultTTL

func TestLeaseIsRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, _, b, lease := firstHolds(t)
		for range 100 {
			time.Sleep(ttl / 2)
			if err := lease.Err(); err != nil {
				t.Fatalf("lost after all: %v", err)
			}
			if left := time.Until(lease.ValidUntil()); left < ttl/2 {
				t.Fatalf("valid for only %v more", left)
			}
		}
		_, err := b.Mutex("m").TryLock(t.Context())
		wantErr(t, err, holdfast.ErrNotAcquired)
		if err := lease.Release(t.Context()); err != nil {
			t.Errorf("release: %v", err)
		}
	})
}

// Promise 3, the holder knows first, whatever breaks between it and the backend.
func TestHolderKnowsFirst(t *testing.T) {
	for _, row := range []struct {
		name   string
		before faults        // while all is well
		faults faults        // then
		margin time.Duration // at least so long before another is granted the lock
	}{
		{"requests do not arrive", faults{}, faults{cut: true}, 50 * time.Millisecond},
		{"requests fail", faults{}, faults{refuse: errors.New("connection refused")}, 50 * time.Millisecond},
		{"answers do not come back", faults{}, faults{mute: true}, 0}, // the holder gives the lock back once it knows
		{"answers were slow, then none", faults{slow: 2 * time.Second}, faults{cut: true}, 50 * time.Millisecond},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, a, b := twoClients(t)
				l.set(row.before)
				lease := must(a.Mutex("m").Lock(t.Context()))(t)
				done := lease.Done()
				time.Sleep(3 * ttl)
				cutAt := time.Now()
				l.set(row.faults)
				granted := make(chan time.Time, 1)
				ctx, cancel := context.WithTimeout(t.Context(), 10*ttl)
				defer cancel()
				go func() {
					defer close(granted)
					if lease, err := b.Mutex("m").Lock(ctx); err == nil {
						granted <- time.Now()
						lease.Release(ctx)
					}
				}()
				<-done
				known := time.Now()
				wantErr(t, lease.Err(), holdfast.ErrLost)
				if wait := known.Sub(cutAt); wait > ttl {
					t.Errorf("the holder knew only after %v", wait)
				}
				at, ok := <-granted
				if !ok {
					t.Fatal("the lock was never free again")
				}
				if margin := at.Sub(known); margin < row.margin {
					t.Errorf("another was granted the lock %v after the holder knew, want at least %v",
						margin, row.margin)
				}
			})
		})
	}
}

func TestLossSaysWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, a, b := twoClients(t)
		expired := must(a.Mutex("expired").Lock(t.Context()))(t)
		broken := must(a.Mutex("broken").Lock(t.Context()))(t)
		long := must(a.Mutex("long", holdfast.WithMaxHold(time.Second)).Lock(t.Context()))(t)
		if err := b.Break(t.Context(), "broken", queued(t, b, "broken")[0].ID); err != nil {
			t.Fatal(err)
		}
		time.Sleep(ttl)
		l.set(faults{refuse: errors.New("no route to host")})
		time.Sleep(2 * ttl)
		for _, row := range []struct {
			lease  *holdfast.Lease
			reason holdfast.LostReason
		}{{expired, holdfast.LostExpired}, {broken, holdfast.LostGone}, {long, holdfast.LostMaxHold}} {
			for what, err := range map[string]error{
				"Err": row.lease.Err(), "Release": row.lease.Release(t.Context()),
				"Release again": row.lease.Release(t.Context()), "Cause": context.Cause(row.lease.Context()),
			} {
				wantErr(t, err, holdfast.ErrLost)
				lost, ok := errors.AsType[*holdfast.LostError](err)
				if !ok || lost.Reason != row.reason ||
					lost.Token != row.lease.Token() || lost.Name != row.lease.Name() {
					t.Errorf("%s of %s: %#v", what, row.lease.Name(), lost)
				}
			}
		}
	})
}

// A holder that asked for its lease's context learns at once that its lock was broken; one that did not, on release.
func TestBrokenHolderLearns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a, b, listening := firstHolds(t)
		ctx := listening.Context()
		deaf := must(a.Mutex("n").Lock(t.Context()))(t)
		start := time.Now()
		for _, name := range []string{"m", "n"} {
			if err := b.Break(t.Context(), name, queued(t, b, name)[0].ID); err != nil {
				t.Fatal(err)
			}
		}
		<-ctx.Done()
		if took := time.Since(start); took > time.Second {
			t.Errorf("it took %v", took)
		}
		wantErr(t, context.Cause(ctx), holdfast.ErrLost)
		wantErr(t, deaf.Release(t.Context()), holdfast.ErrLost)
	})
}

func TestRelease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, _, b, lease := firstHolds(t)
		dead, cancel := context.WithCancel(t.Context())
		cancel()
		if err := lease.Release(dead); err != nil {
			t.Errorf("release under a dead context: %v", err)
		}
		if err := lease.Release(t.Context()); err != nil {
			t.Errorf("second release: %v", err)
		}
		wantErr(t, lease.Err(), holdfast.ErrReleased)
		wantErr(t, context.Cause(lease.Context()), holdfast.ErrReleased)
		must(b.Mutex("m").TryLock(t.Context()))(t)
	})
}

func TestReleaseWhoseAnswerIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, _, b, lease := firstHolds(t)
		l.set(faults{mute: true})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := lease.Release(ctx)
		wantErr(t, err, holdfast.ErrUnknown)
		if errors.Is(err, holdfast.ErrLost) {
			t.Errorf("%v says that the lock was lost, which is not known", err)
		}
		l.set(faults{})
		synctest.Wait()
		must(b.Mutex("m").TryLock(t.Context()))(t)
	})
}

func TestReleaseIsRepeatedUntilAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, _, _, lease := firstHolds(t)
		l.set(faults{mute: true})
		time.AfterFunc(ttl/2, func() { l.set(faults{}) })
		if err := lease.Release(t.Context()); err != nil {
			t.Errorf("release that was applied at first and answered at last: %v", err)
		}
	})
}

func TestCheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, _, b, lease := firstHolds(t)
		time.Sleep(ttl / 4)
		if err := lease.Check(t.Context()); err != nil {
			t.Errorf("check of a held lease: %v", err)
		}
		if left := time.Until(lease.ValidUntil()); left < ttl*9/10 {
			t.Errorf("a check renews, yet only %v are left", left)
		}
		l.set(faults{refuse: errors.New("down")})
		if err := lease.Check(t.Context()); err == nil || errors.Is(err, holdfast.ErrLost) {
			t.Errorf("check without an answer: %v, want an error that is not ErrLost", err)
		}
		l.set(faults{})
		b.Break(t.Context(), "m", queued(t, b, "m")[0].ID)
		wantErr(t, lease.Check(t.Context()), holdfast.ErrLost)
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		wantErr(t, lease.Check(ended), holdfast.ErrLost)
	})
}

// What the answer to a check says of the claim beside that it is there is told as the answer to a renewal is.
func TestCheckTells(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memlock.New()
		a, b := newClient(t, untold{store}), newClient(t, store.Client())
		lease := must(a.Mutex("m").Lock(t.Context()))(t)
		revoked := lease.Revoked()
		synctest.Wait()
		if err := b.Revoke(t.Context(), "m"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if isClosed(revoked) {
			t.Fatal("the holder knew before it asked")
		}
		if err := lease.Check(t.Context()); err != nil || !isClosed(revoked) {
			t.Errorf("%v; the holder has learned of it: %t", err, isClosed(revoked))
		}
	})
}

// A backend that says nothing keeps nobody who checks for longer than the lease lives.
func TestCheckEndsWithTheLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cable, _, _, lease := firstHolds(t)
		cable.set(faults{cut: true})
		start := time.Now()
		wantErr(t, lease.Check(t.Context()), holdfast.ErrLost)
		if waited := time.Since(start); waited > ttl {
			t.Errorf("the loss was told after %v", waited)
		}
	})
}

type ctxKey struct{}

func TestLeaseContextCarriesValuesNotTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a, _ := twoClients(t)
		ctx, cancel := context.WithCancel(context.WithValue(t.Context(), ctxKey{}, "trace"))
		lease := must(a.Mutex("m").Lock(ctx))(t)
		cancel()
		if v := lease.Context().Value(ctxKey{}); v != "trace" {
			t.Errorf("value is %v", v)
		}
		if err := lease.Context().Err(); err != nil {
			t.Errorf("it ended with the acquiring context: %v", err)
		}
	})
}

func TestMinHold(t *testing.T) {
	for _, detach := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			const least = 5 * time.Minute
			store := memlock.New()
			a := newClient(t, withTraits{store, func(tr *driver.Traits) { tr.Detach = detach }})
			b := newClient(t, store.Client())
			start := time.Now()
			lease := must(a.Mutex("tick", holdfast.WithMinHold(least)).Lock(t.Context()))(t)
			time.Sleep(time.Second)
			if err := lease.Release(t.Context()); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(start); took > 2*time.Second {
				t.Errorf("release took until %v after the grant", took)
			}
			must(b.Mutex("tick").Lock(t.Context()))(t)
			if held := time.Since(start); held < least || held > least+time.Second {
				t.Errorf("detach %v: taken for %v, want %v", detach, held, least)
			}
		})
	}
}

func TestMaxHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a, b := twoClients(t)
		lease := must(a.Mutex("m", holdfast.WithMaxHold(time.Hour)).Lock(t.Context()))(t)
		start := time.Now()
		must(b.Mutex("m").Lock(t.Context()))(t)
		if held := time.Since(start); held != time.Hour {
			t.Errorf("held for %v, want an hour", held)
		}
		wantErr(t, lease.Err(), holdfast.ErrLost)
	})
}
