package holdfast_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/batch"
	"github.com/holdfast-go/holdfast/memlock"
)

// A value stays with the lock, with the token of the lease that set it, and goes when an empty one is set.
func TestValue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a, b := twoClients(t)
		wantValue(t, b, holdfast.Value{})
		lease := must(a.Mutex("m").Lock(t.Context()))(t)
		setValue(t, lease, "42 of 100")
		want := holdfast.Value{Text: "42 of 100", Token: lease.Token(), Set: time.Now()}
		wantValue(t, b, want)
		lease.Release(t.Context())
		time.Sleep(365 * 24 * time.Hour)
		wantValue(t, b, want)

		next := must(b.Election("m").Campaign(t.Context(), "stands for this"))(t)
		if v, err := next.Value(t.Context()); v.Text != want.Text || err != nil {
			t.Errorf("the next holder reads %q, %v", v.Text, err)
		}
		setValue(t, next, "")
		wantValue(t, a, holdfast.Value{})
	})
}

// Values that are set in one instant, and by goroutines that hand the lock on among them, stay in their order.
func TestValuesInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a, b, lease := firstHolds(t)
		handed := make(chan *holdfast.Lease)
		go func() { handed <- must(a.Mutex("m").Lock(t.Context()))(t) }()
		synctest.Wait()
		setValue(t, lease, "first")
		setValue(t, lease, "second")
		lease.Release(t.Context())
		next := <-handed
		setValue(t, next, "third")
		if v := must(b.Value(t.Context(), "m"))(t); v.Text != "third" || v.Token != next.Token() {
			t.Errorf("the value is %q of %d, want that of %d", v.Text, v.Token, next.Token())
		}
	})
}

// Only who holds the lock alone, and still, sets a value; otherwise the error says why, and nothing is set.
func TestValueIsTheHolders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, a, b := twoClients(t)
		refused := func(want error, lease *holdfast.Lease, text string) {
			t.Helper()
			wantErr(t, lease.SetValue(t.Context(), text), want)
		}
		refused(errors.ErrUnsupported, must(a.RWMutex("m").RLock(t.Context()))(t), "of a reader")
		refused(errors.ErrUnsupported, must(a.Semaphore("s", 2).Acquire(t.Context(), 2))(t), "of all permits")

		lease := must(a.Mutex("n").Lock(t.Context()))(t)
		refused(driver.ErrRefused, lease, strings.Repeat("x", driver.MaxValue+1))
		broken := queued(t, b, "n")[0]
		if err := b.Break(t.Context(), "n", broken.ID); err != nil {
			t.Fatal(err)
		}
		refused(holdfast.ErrLost, lease, "broken")
		wantErr(t, lease.Err(), holdfast.ErrLost)

		lease = must(a.Mutex("n").Lock(t.Context()))(t)
		lease.Release(t.Context())
		refused(holdfast.ErrReleased, lease, "released")
		if n := l.count("set value"); n != 1 {
			t.Errorf("%d requests were sent, want the one that could have succeeded", n)
		}
		_, err := a.Value(t.Context(), "")
		wantErr(t, err, holdfast.ErrInvalidName)
		a.Close(t.Context())
		_, err = a.Value(t.Context(), "n")
		wantErr(t, err, holdfast.ErrClosed)
		for _, name := range []string{"m", "s", "n"} {
			if v := must(b.Value(t.Context(), name))(t); v != (holdfast.Value{}) {
				t.Errorf("%s has the value %q", name, v.Text)
			}
		}
	})
}

// A value is set though the backend is silent for a while. Where it stays silent, that is said when ctx ends, when the
// lease does, and when the client is closed.
func TestValueOverABadLine(t *testing.T) {
	for name, f := range map[string]faults{"applied": {mute: true}, "not applied": {cut: true}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, a, b, lease := firstHolds(t)
				l.set(f)
				time.AfterFunc(ttl/3, func() { l.set(faults{}) })
				setValue(t, lease, "late")
				if v := must(b.Value(t.Context(), "m"))(t); v.Text != "late" {
					t.Errorf("the value is %q", v.Text)
				}

				l.set(f)
				ctx, cancel := context.WithTimeout(t.Context(), ttl/4)
				defer cancel()
				silent := []error{holdfast.ErrUnknown, holdfast.ErrUnavailable}
				wantErr(t, lease.SetValue(ctx, "silence"), append(silent, context.DeadlineExceeded)...)
				wantErr(t, lease.SetValue(t.Context(), "longer"), append(silent, holdfast.ErrLost)...)

				l.set(faults{})
				lease = must(a.Mutex("m").Lock(t.Context()))(t)
				l.set(f)
				go a.Close(t.Context())
				synctest.Wait()
				wantErr(t, lease.SetValue(t.Context(), "closed"), holdfast.ErrReleased)
			})
		})
	}
}

// Who learns that the claim is gone while another goroutine is about to tell of it does not take that for success.
func TestGoneIsNoSuccessWhileItIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, _, b, lease := firstHolds(t)
		if err := b.Break(t.Context(), "m", queued(t, b, "m")[0].ID); err != nil {
			t.Fatal(err)
		}
		holdfast.EndHold(lease)
		wantErr(t, lease.SetValue(t.Context(), "any"), holdfast.ErrLost)
	})
}

// A value of which an attempt was applied without an answer is not said to be unset when the next finds the claim gone.
func TestValueThatWasSetBeforeTheLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, _, b, lease := firstHolds(t)
		l.set(faults{mute: true})
		time.AfterFunc(time.Second, func() {
			b.Break(t.Context(), "m", queued(t, b, "m")[0].ID)
			l.set(faults{})
		})
		wantErr(t, lease.SetValue(t.Context(), "applied"), holdfast.ErrUnknown, holdfast.ErrLost)
		if v := must(b.Value(t.Context(), "m"))(t); v.Text != "applied" {
			t.Errorf("the value is %q", v.Text)
		}
	})
}

// Where the lease ends while a value is being set, the error says whether the value may be there.
func TestValueAsTheLeaseEnds(t *testing.T) {
	for refusal, unknown := range map[error]bool{nil: true, driver.ErrRefused: false} {
		synctest.Test(t, func(t *testing.T) {
			var lease *holdfast.Lease
			d := batch.Intercept(memlock.New(), func(_ context.Context, op driver.Op, next next) (r driver.Result) {
				if op.Kind != driver.OpSetValue {
					return next(op)
				}
				if r.Err = refusal; refusal == nil {
					r = next(op)
				}
				holdfast.EndHold(lease)
				lease.Release(t.Context())
				return r
			})
			lease = must(newClient(t, d).Mutex("m").Lock(t.Context()))(t)
			err := lease.SetValue(t.Context(), "late")
			if err == nil || errors.Is(err, holdfast.ErrUnknown) != unknown {
				t.Errorf("refused with %v: %v", refusal, err)
			}
		})
	}
}

// A value that is under way when its lease ends is not set beside the next holder of the same process.
func TestValueUnderWayIsNotHandedOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, a, _ := twoClients(t)
		lease := must(a.Mutex("m", holdfast.WithMaxHold(time.Second)).Lock(t.Context()))(t)
		handed := make(chan *holdfast.Lease)
		go func() { handed <- must(a.Mutex("m").Lock(t.Context()))(t) }()
		synctest.Wait()
		l.set(faults{late: 2 * time.Second})
		set := make(chan error)
		go func() { set <- lease.SetValue(t.Context(), "of the first") }()
		synctest.Wait()
		l.set(faults{})
		next := <-handed
		first := must(next.Value(t.Context()))(t)
		wantErr(t, <-set, holdfast.ErrLost)
		time.Sleep(ttl / 3)
		if v := must(next.Value(t.Context()))(t); v != first {
			t.Errorf("the next holder finds %q set beside it", v.Text)
		}
	})
}

// Processes that have one lease by turns set values in their order, whatever their clocks say.
func TestValueUnderAClockThatIsBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memlock.New()
		a, b := newClient(t, store), newClient(t, store.Client())
		lease := must(a.Mutex("m").Lock(t.Context()))(t)
		claim := queued(t, b, "m")[0].Claim
		claim.Token >>= 10 // of the backend
		ahead := holdfast.Value{Text: "ahead", Token: lease.Token(), Set: time.Now().Add(time.Hour)}
		set := driver.Op{Kind: driver.OpSetValue, Claim: claim, Value: ahead}
		if err := doOne(t.Context(), store, set).Err; err != nil {
			t.Fatal(err)
		}
		resumed := must(b.Resume(t.Context(), must(lease.Detach(t.Context()))(t)))(t)
		setValue(t, resumed, "behind")
		setValue(t, resumed, "behind that")
		if v := must(a.Value(t.Context(), "m"))(t); v.Text != "behind that" {
			t.Errorf("the value is %q", v.Text)
		}
	})
}

// A backend that keeps no values says so.
func TestValueUnsupported(t *testing.T) {
	c := newClient(t, withTraits{memlock.New(), func(t *driver.Traits) {
		t.Ops &^= driver.KindsOf(driver.OpValue, driver.OpSetValue)
	}})
	lease := must(c.Mutex("m").Lock(t.Context()))(t)
	wantErr(t, lease.SetValue(t.Context(), "any"), errors.ErrUnsupported)
	_, err := lease.Value(t.Context())
	wantErr(t, err, errors.ErrUnsupported)
}

func setValue(t *testing.T, l *holdfast.Lease, text string) {
	t.Helper()
	if err := l.SetValue(t.Context(), text); err != nil {
		t.Fatal(err)
	}
}

func wantValue(t *testing.T, c *holdfast.Client, want holdfast.Value) {
	t.Helper()
	v, err := c.Value(t.Context(), "m")
	if err != nil || v.Text != want.Text || v.Token != want.Token || !v.Set.Equal(want.Set) {
		t.Errorf("the value is %+v, %v; want %+v", v, err, want)
	}
}
