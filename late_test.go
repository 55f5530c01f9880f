package holdfast_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/memlock"
)

// A lock that was granted while its waiter's renewal was under way is renewed like any other.
func TestGrantDuringRenewalIsRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, a, b := twoClients(t)
		l.set(faults{slow: time.Second})
		first := must(b.Mutex("m").Lock(t.Context()))(t)
		var lease *holdfast.Lease
		var wg sync.WaitGroup
		wg.Go(func() { lease = must(a.Mutex("m").Lock(t.Context()))(t) })
		time.Sleep(ttl/3 + 500*time.Millisecond) // the waiter's renewal was sent, and is not answered yet
		if err := first.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		wg.Wait()
		granted := time.Now()
		for range 10 {
			time.Sleep(ttl / 3)
			if err := lease.Err(); err != nil {
				t.Fatalf("lost %v after the grant, though the backend answers: %v", time.Since(granted), err)
			}
		}
	})
}

// A grant of which the driver tells before the request is answered counts as soon as it is.
func TestGrantBeforeTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const slow = 100 * time.Millisecond
		l, a, b := twoClients(t)
		first := must(b.Mutex("m").Lock(t.Context()))(t)
		time.AfterFunc(slow/2, func() { first.Release(t.Context()) })
		l.set(faults{slow: slow})
		asked := time.Now()
		must(a.Mutex("m").Lock(t.Context()))(t)
		if took := time.Since(asked); took != slow {
			t.Errorf("it took %v, want %v", took, slow)
		}
	})
}

// tokenless returns a driver whose waiting claims have no token, as those on the votes of servers and in the formats of
// others: it knows a claim without a token only while that is granted. Its clients are told to ask now and then.
func tokenless(request func(driver.Claim) (driver.Status, error)) driver.Driver {
	d := onRequests(memlock.New(), func(_ context.Context, op driver.Op, _ next) (r driver.Result) {
		r.Status, r.Err = request(op.Claim)
		return r
	})
	return following(d, askNowAndThen)
}

// A grant whose answer was handled long after its claim ended is none: the lock may be somebody else's by then.
func TestGrantThatCameTooLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int64
		d := tokenless(func(c driver.Claim) (driver.Status, error) {
			switch {
			case asked.Add(1) == 2: // the lock is free, and this process is paused before it looks at the answer
				time.Sleep(4 * ttl)
				return driver.Status{TTL: c.TTL, Granted: true, Token: 5}, nil
			case c.Token != 0:
				return driver.Status{}, driver.ErrGone
			default: // somebody else has it
				return driver.Status{TTL: c.TTL}, nil
			}
		})
		ctx, cancel := context.WithTimeout(t.Context(), 10*ttl)
		defer cancel()
		lease, err := newClient(t, d).Mutex("m").Lock(ctx)
		if err == nil {
			t.Errorf("acquired what somebody else has: %v, valid for %v more",
				lease.Err(), time.Until(lease.ValidUntil()))
		}
	})
}

// A try whose answer comes when the claim may have ended finds out whether it has, and queues nowhere.
func TestTryLockAnsweredTooLate(t *testing.T) {
	ways := map[string][]holdfast.Option{"with a gate": nil, "without": {holdfast.WithLocalHandoff(0)}}
	for name, opts := range ways {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := memlock.New()
				a, b := newClient(t, pausing(store.Client(), ttl+time.Second), opts...), newClient(t, store.Client())
				held := make(chan *holdfast.Lease, 1)
				time.AfterFunc(time.Second, func() { // once a's claim has expired
					held <- must(b.Mutex("m").Lock(t.Context()))(t)
				})
				began := time.Now()
				_, err := a.Mutex("m").TryLock(t.Context())
				wantErr(t, err, holdfast.ErrNotAcquired)
				if took := time.Since(began); took > 2*ttl {
					t.Errorf("TryLock took %v", took)
				}
				(<-held).Release(t.Context())
			})
		})
	}
}

// A try whose lock is lost before it comes to its gate, as when its process is paused there, asks once more and waits
// for nobody.
func TestTryLockThatIsLostAtTheGate(t *testing.T) {
	for name, taken := range map[string]bool{"free again": false, "taken meanwhile": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := memlock.New()
				b := newClient(t, store.Client())
				var a *holdfast.Client
				asked := 0
				d := onRequests(store.Client(), func(_ context.Context, op driver.Op, next next) driver.Result {
					switch asked++; {
					case asked == 1:
						holdfast.LoseAtGate(a)
					case asked == 2 && taken:
						must(b.Mutex("m").TryLock(t.Context()))(t)
					}
					return next(op)
				})
				a = newClient(t, d)
				began := time.Now()
				lease, err := a.Mutex("m").TryLock(t.Context())
				switch {
				case taken:
					wantErr(t, err, holdfast.ErrNotAcquired)
				case err != nil || lease.Err() != nil:
					t.Errorf("the lock is free, and not acquired: %v", err)
				}
				if took := time.Since(began); took > 0 {
					t.Errorf("TryLock waited for %v", took)
				}
			})
		})
	}
}

// pausing returns a driver that answers its first request as to a process that was paused.
func pausing(d driver.Driver, pause time.Duration) driver.Driver {
	var once sync.Once
	return onRequests(d, func(_ context.Context, op driver.Op, next next) driver.Result {
		r := next(op)
		once.Do(func() { time.Sleep(pause) })
		return r
	})
}

// A refusal says nothing about an attempt before it whose answer was lost: that one is undone.
func TestRefusalAfterLostAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, a, b := twoClients(t)
		l.set(faults{loseReply: 1})
		time.AfterFunc(time.Millisecond, func() { l.set(faults{refuse: driver.ErrRefused}) })
		time.AfterFunc(time.Second, func() { l.set(faults{}) })
		_, err := a.Mutex("m").Lock(t.Context())
		wantErr(t, err, holdfast.ErrUnknown, driver.ErrRefused)
		if errors.Is(err, holdfast.ErrNotAcquired) {
			t.Errorf("%v says that the lock was taken", err)
		}
		time.Sleep(ttl / 2)
		noneQueued(t, b, "m")
	})
}

// Close leaves nothing of an acquisition that is granted while it runs.
func TestCloseDuringAcquisition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, a, b := twoClients(t)
		l.set(faults{slow: time.Second})
		var wg sync.WaitGroup
		wg.Go(func() {
			_, err := a.Mutex("m").Lock(t.Context())
			wantErr(t, err, holdfast.ErrClosed)
		})
		time.Sleep(500 * time.Millisecond)
		if err := a.Close(t.Context()); err != nil {
			t.Error(err)
		}
		noneQueued(t, b, "m")
		wg.Wait()
	})
}

// Of a try whose first attempt was not answered nothing is left, though that one arrives when the lock is free.
func TestTryLockOfWhichAnAttemptIsLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memlock.New()
		b := newClient(t, store.Client())
		lease := must(b.Mutex("m").Lock(t.Context()))(t)
		_, err := newClient(t, straying(store.Client())).Mutex("m").TryLock(t.Context())
		wantErr(t, err, holdfast.ErrNotAcquired)
		if err := lease.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(ttl / 2)
		noneQueued(t, b, "m")
	})
}

// straying returns a driver that loses its first request, which arrives later.
func straying(d driver.Driver) driver.Driver {
	var lost atomic.Bool
	return onRequests(d, func(_ context.Context, op driver.Op, next next) driver.Result {
		if !lost.CompareAndSwap(false, true) {
			return next(op)
		}
		time.AfterFunc(ttl/3, func() { doOne(context.Background(), d, op) })
		return driver.Result{Err: errors.New("connection reset")}
	})
}

// A claim that waited through an outage is renewed as before.
func TestWaiterIsRenewedAfterOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, a, b := twoClients(t)
		must(b.Mutex("m").Lock(t.Context()))(t)
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { a.Mutex("m").Lock(ctx) })
		synctest.Wait()
		l.set(faults{mute: true})
		time.Sleep(ttl + ttl/4)
		l.set(faults{})
		time.Sleep(ttl / 2)
		before := l.count("renew")
		time.Sleep(10 * ttl)
		if n := l.count("renew") - before; n < 20 {
			t.Errorf("%d renewals in 10 TTLs, want about 30", n)
		}
		cancel()
		wg.Wait()
	})
}
