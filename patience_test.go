package holdfast_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/batch"
	"github.com/holdfast-go/holdfast/memlock"
)

// outages are the ways in which a backend does not answer.
var outages = map[string]faults{
	"requests hang":            {cut: true},
	"answers do not come back": {mute: true},
	"requests fail":            {refuse: errors.New("connection refused")},
}

// A Lock whose context lives outlasts an outage of a whole TTL, and makes one claim.
func TestLockOutlastsAnOutage(t *testing.T) {
	for name, outage := range outages {
		for _, row := range []struct{ ttl, down time.Duration }{
			{ttl, time.Second}, {ttl, ttl}, {time.Second, time.Second},
			{10 * time.Minute, time.Second}, {10 * time.Minute, 10 * time.Minute},
		} {
			t.Run(name+" for "+row.down.String()+" of "+row.ttl.String(), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					cable := overLine(memlock.New())
					seen := &recording{}
					cable.set(outage)
					time.AfterFunc(row.down, func() { cable.set(faults{}) })
					began := time.Now()
					c := newClient(t, batch.Intercept(cable, seen.pass), holdfast.WithTTL(row.ttl))
					must(c.Mutex("m").Lock(t.Context()))(t)
					if took := time.Since(began) - row.down; took > 4*time.Second {
						t.Errorf("granted %v after the outage", took)
					}
					if ids := seen.ids(); len(ids) != 1 {
						t.Errorf("it asked under %d IDs", len(ids))
					}
				})
			})
		}
	}
}

// ids returns the IDs that were asked for.
func (r *recording) ids() (ids []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.requested {
		if !slices.Contains(ids, c.ID) {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

// A claim that was queued by a request whose answer was lost, and expired in the outage, is followed by another.
func TestLockOutlastsItsUnknownClaim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, a, b := twoClients(t)
		lease := must(b.Mutex("m").Lock(t.Context()))(t)
		l.set(faults{loseReply: 1})
		time.AfterFunc(time.Millisecond, func() { l.set(faults{cut: true}) })
		time.AfterFunc(ttl+ttl/10, func() { l.set(faults{}) })
		time.AfterFunc(2*ttl, func() { lease.Release(context.Background()) })
		must(a.Mutex("m").Lock(t.Context()))(t)
	})
}

// A waiter outlasts an outage in the same way, under another claim if its own has expired.
func TestWaiterOutlastsAnOutage(t *testing.T) {
	for name, outage := range outages {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, a, b := twoClients(t)
				lease := must(b.Mutex("m").Lock(t.Context()))(t)
				time.AfterFunc(time.Second, func() { l.set(outage) })
				time.AfterFunc(time.Second+ttl, func() { l.set(faults{}) })
				time.AfterFunc(3*ttl, func() { lease.Release(context.Background()) })
				must(a.Mutex("m").Lock(t.Context()))(t)
			})
		})
	}
}

// A wait that ends with its context in an outage says so.
func TestWaitThatEndsInAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, a, b := twoClients(t)
		must(b.RWMutex("m").Lock(t.Context()))(t)
		time.AfterFunc(time.Second, func() { l.set(faults{refuse: errors.New("connection refused")}) })
		ctx, cancel := context.WithTimeout(t.Context(), ttl+5*time.Second)
		defer cancel()
		_, err := a.RWMutex("m").RLock(ctx)
		wantErr(t, err, holdfast.ErrNotAcquired, holdfast.ErrUnavailable, context.DeadlineExceeded)
	})
}

// Those who wait together have the same answer, though one asks for all of them: also those whom another asked for that
// waits no more. Who waits for a backend that answers is told of no outage.
func TestWaitTogetherThatEndsInAnOutage(t *testing.T) {
	for name, outage := range outages {
		for _, row := range []struct {
			what    string
			down    time.Duration // when the outage begins; the first waits for 1.5 TTL, the second for 4
			outages int           // so many of them are told of it
		}{
			{"from the beginning", 0, 2},
			{"while both wait", ttl / 4, 2},
			{"while one waits", 2 * ttl, 1},
			{"after both have waited", 5 * ttl, 0},
		} {
			t.Run(name+" "+row.what, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					l, a, b := twoClients(t)
					must(b.Mutex("m").Lock(t.Context()))(t)
					l.set(faults{slow: time.Millisecond})
					if row.down == 0 {
						l.set(outage)
					} else {
						time.AfterFunc(row.down, func() { l.set(outage) })
					}
					told := 0
					ends := make(chan error)
					for _, patience := range []time.Duration{3 * ttl / 2, 4 * ttl} {
						go func() {
							ctx, cancel := context.WithTimeout(t.Context(), patience)
							defer cancel()
							ends <- second(a.Mutex("m", holdfast.WithPatience(holdfast.Endless)).Lock(ctx))
						}()
						synctest.Wait()
					}
					for range 2 {
						err := <-ends
						if wantErr(t, err, context.DeadlineExceeded); errors.Is(err, holdfast.ErrUnavailable) {
							told++
						}
					}
					if told != row.outages {
						t.Errorf("%d of them were told of the outage, want %d", told, row.outages)
					}
				})
			})
		}
	}
}

// An acquisition gives up when its patience is at its end, and says for how long the backend has been silent.
func TestPatience(t *testing.T) {
	const none = time.Duration(0)
	lock, try := (*holdfast.Mutex).Lock, (*holdfast.Mutex).TryLock
	for _, row := range []struct {
		name        string
		opts        []holdfast.Option
		acquire     func(*holdfast.Mutex, context.Context) (*holdfast.Lease, error)
		least, most time.Duration
	}{
		{"default", nil, lock, ttl, 2 * ttl},
		{"none", []holdfast.Option{holdfast.WithPatience(0)}, lock, none, 4 * time.Second},
		{"some", []holdfast.Option{holdfast.WithPatience(time.Minute)}, lock, time.Minute, time.Minute + time.Second},
		{"until the first answer", []holdfast.Option{holdfast.WithFirstAnswer(3 * time.Second)}, lock,
			3 * time.Second, 3300 * time.Millisecond},
		{"TryLock", nil, try, 4 * time.Second, 7 * time.Second},
		{"TryLock with a long TTL", []holdfast.Option{holdfast.WithTTL(time.Hour)}, try,
			4 * time.Second, 7 * time.Second},
		{"TryLock with less", []holdfast.Option{holdfast.WithPatience(time.Second)}, try,
			time.Second, 1200 * time.Millisecond},
	} {
		for name, outage := range outages {
			t.Run(row.name+", "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					cable := overLine(memlock.New())
					c := newClient(t, cable, row.opts...)
					cable.set(outage)
					began := time.Now()
					_, err := row.acquire(c.Mutex("m"), t.Context())
					wantErr(t, err, holdfast.ErrUnknown, holdfast.ErrUnavailable)
					least := row.least
					if least == 0 && outage.refuse == nil {
						least = 2 * time.Second // of one attempt
					}
					if took := time.Since(began); took < least || took > row.most {
						t.Errorf("it took %v, want %v to %v", took, least, row.most)
					}
					if want := "no answer since " + began.Format(time.TimeOnly); !strings.Contains(err.Error(), want) {
						t.Errorf("%q does not say %q", err, want)
					}
				})
			})
		}
	}
}

// A first request that is not answered is sent again, however short the patience is.
func TestFirstRequestIsRepeated(t *testing.T) {
	for _, patience := range []time.Duration{time.Second, 3 * time.Second, time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			cable := overLine(memlock.New())
			c := newClient(t, cable, holdfast.WithPatience(patience))
			cable.set(faults{cut: true})
			_, err := c.Mutex("m").Lock(t.Context())
			wantErr(t, err, holdfast.ErrUnavailable)
			if n := cable.count("request"); n < 2 {
				t.Errorf("%d requests within %v", n, patience)
			}
		})
	}
}

// Without a limit it is the context that decides, or Close.
func TestEndlessPatience(t *testing.T) {
	for name, outage := range outages {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cable := overLine(memlock.New())
				c := newClient(t, cable, holdfast.WithPatience(holdfast.Endless))
				cable.set(outage)
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				began := time.Now()
				_, err := c.Mutex("m").Lock(ctx)
				wantErr(t, err, holdfast.ErrUnknown, holdfast.ErrUnavailable, context.DeadlineExceeded)
				if took := time.Since(began); took != time.Hour {
					t.Errorf("it took %v", took)
				}
				var wg sync.WaitGroup
				for range 2 { // one asks, one waits at the gate
					wg.Go(func() {
						_, err := c.Mutex("m").Lock(t.Context())
						wantErr(t, err, holdfast.ErrClosed)
					})
				}
				time.Sleep(time.Hour)
				closing, stop := context.WithTimeout(t.Context(), time.Second)
				defer stop()
				c.Close(closing)
				wg.Wait()
			})
		})
	}
}

// Whoever cancelled did not wait, and is not told that the backend is not there.
func TestCancelledRequestIsNotUnavailable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, a, _ := twoClients(t)
		l.set(faults{slow: 100 * time.Millisecond})
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Millisecond, cancel)
		_, err := a.Mutex("m").Lock(ctx)
		wantErr(t, err, holdfast.ErrUnknown, context.Canceled)
		if errors.Is(err, holdfast.ErrUnavailable) {
			t.Error(err)
		}
	})
}

// Whatever a backend does not answer is as plain.
func TestUnavailable(t *testing.T) {
	for name, call := range map[string]func(*testing.T, *holdfast.Client, *holdfast.Lease, string) error{
		"check": func(t *testing.T, _ *holdfast.Client, l *holdfast.Lease, _ string) error {
			return l.Check(t.Context())
		},
		"release": func(t *testing.T, _ *holdfast.Client, l *holdfast.Lease, _ string) error {
			return l.Release(t.Context())
		},
		"detach": func(t *testing.T, _ *holdfast.Client, l *holdfast.Lease, _ string) error {
			return second(l.Detach(t.Context()))
		},
		"resume": func(t *testing.T, c *holdfast.Client, _ *holdfast.Lease, h string) error {
			return second(c.Resume(t.Context(), h))
		},
		"queue": func(t *testing.T, c *holdfast.Client, _ *holdfast.Lease, _ string) error {
			return second(c.Queue(t.Context(), "m"))
		},
		"break": func(t *testing.T, c *holdfast.Client, _ *holdfast.Lease, _ string) error {
			return c.Break(t.Context(), "m", "x")
		},
		"revoke": func(t *testing.T, c *holdfast.Client, _ *holdfast.Lease, _ string) error {
			return c.Revoke(t.Context(), "m")
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, a, _ := twoClients(t)
				handle := must(must(a.Mutex("n").Lock(t.Context()))(t).Detach(t.Context()))(t)
				lease := must(a.Mutex("m").Lock(t.Context()))(t)
				l.set(faults{refuse: errors.New("connection refused")})
				wantErr(t, call(t, a, lease, handle), holdfast.ErrUnavailable)
			})
		})
	}
}

func second[T any](_ T, err error) error { return err }

func TestPatienceIsNotNegative(t *testing.T) {
	_, a, _ := twoClients(t)
	for _, opt := range []holdfast.Option{holdfast.WithPatience(-1), holdfast.WithFirstAnswer(-1)} {
		if _, err := a.Mutex("m", opt).Lock(t.Context()); err == nil || errors.Is(err, holdfast.ErrUnknown) {
			t.Errorf("error is %v, want one about the option", err)
		}
	}
}

// An answer that nothing was done says nothing of the attempt after it, which may have been applied.
func TestUndoneAfterAnAnswerThatNothingWasDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, a, b := twoClients(t)
		l.set(faults{refuse: &driver.ServerError{Effect: driver.NotNow, Words: "E2 the server is full"}})
		time.AfterFunc(time.Millisecond, func() { l.set(faults{mute: true}) })
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond) // during the second attempt
		defer cancel()
		_, err := a.Mutex("m").TryLock(ctx)
		if !errors.Is(err, holdfast.ErrUnknown) || !strings.Contains(err.Error(), "E2") {
			t.Errorf("TryLock: %v", err)
		}
		l.set(faults{})
		time.Sleep(ttl / 2) // the client takes back what may have been granted
		must(b.Mutex("m").TryLock(t.Context()))(t)
	})
}
