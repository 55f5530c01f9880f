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

func TestDo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a, b := twoClients(t)
		failed := errors.New("no stock")
		err := a.Mutex("m").Do(t.Context(), func(ctx context.Context, l *holdfast.Lease) error {
			if l.Token() == 0 || l.Name() != "m" || ctx.Err() != nil {
				t.Errorf("lease %q with token %d, context %v", l.Name(), l.Token(), ctx.Err())
			}
			if _, err := a.Mutex("m").TryLock(ctx); !errors.Is(err, holdfast.ErrDeadlock) {
				t.Errorf("the context does not carry the lease: %v", err)
			}
			return failed
		})
		if !errors.Is(err, failed) || errors.Is(err, holdfast.ErrLost) {
			t.Errorf("error is %v", err)
		}
		must(b.Mutex("m").TryLock(t.Context()))(t)
	})
}

func TestDoReportsTheLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a, b := twoClients(t)
		failed := errors.New("also failed")
		for _, own := range []error{nil, failed} {
			err := a.Mutex("m").Do(t.Context(), func(ctx context.Context, l *holdfast.Lease) error {
				b.Break(t.Context(), "m", queued(t, b, "m")[0].ID)
				<-ctx.Done()
				wantErr(t, context.Cause(ctx), holdfast.ErrLost)
				return own
			})
			wantErr(t, err, holdfast.ErrLost)
			if own != nil {
				wantErr(t, err, own)
			}
		}
	})
}

func TestDoEndsWithItsCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a, b := twoClients(t)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err := a.Mutex("m").Do(ctx, func(ctx context.Context, l *holdfast.Lease) error {
			<-ctx.Done()
			if l.Err() != nil {
				t.Errorf("the lease ended too early: %v", l.Err())
			}
			return ctx.Err()
		})
		wantErr(t, err, context.DeadlineExceeded)
		must(b.Mutex("m").TryLock(t.Context()))(t)
	})
}

func TestDoReleasesAfterPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a, b := twoClients(t)
		func() {
			defer func() {
				if recover() != "oops" {
					t.Error("the panic was swallowed")
				}
			}()
			a.Mutex("m").Do(t.Context(), func(context.Context, *holdfast.Lease) error { panic("oops") })
		}()
		must(b.Mutex("m").TryLock(t.Context()))(t)
	})
}

// The context of Do has ended when the next goroutine has the lock, whoever took it away: also for
// who only waits for it.
func TestDoContextEndsBeforeTheNextHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a, _ := twoClients(t)
		for range 1000 {
			inside := make(chan context.Context, 1)
			m := a.Mutex("m", holdfast.WithMaxHold(time.Second))
			go m.Do(t.Context(), func(ctx context.Context, _ *holdfast.Lease) error {
				inside <- ctx
				<-ctx.Done()
				return nil
			})
			done := (<-inside).Done()
			next := must(a.Mutex("m").Lock(t.Context()))(t)
			select {
			case <-done:
			default:
				t.Fatal("two contexts are alive at once")
			}
			next.Release(t.Context())
		}
	})
}

// tokenWithTheGrant returns a driver whose tokens come with the grant, as those of a quorum do.
func tokenWithTheGrant(d driver.Driver) driver.Driver {
	return onRequests(d, func(_ context.Context, op driver.Op, next next) driver.Result {
		r := next(op)
		if !r.Status.Granted {
			r.Status.Token = 0
		}
		return r
	})
}

// The token of a lease is that of the grant, whatever was known of it while the claim waited.
func TestTokenThatComesWithTheGrant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memlock.New()
		a, b := newClient(t, store), newClient(t, tokenWithTheGrant(store.Client()))
		first := must(a.Mutex("m").Lock(t.Context()))(t)
		time.AfterFunc(time.Second, func() { first.Release(t.Context()) })
		lease := must(b.Mutex("m").Lock(t.Context()))(t)
		if want := queued(t, a, "m")[0].Token; lease.Token() != want || want <= first.Token() {
			t.Errorf("the token is %d, that of the claim %d, and that of the lease before %d", lease.Token(), want,
				first.Token())
		}
		if err := lease.Release(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
