package holdfast_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
)

// A visitor whose context has ended is granted the lock before it could leave: it passes the lock on, so that others
// get it. TestGateInEveryState has all the orders; here the scheduler chooses, so there are many attempts.
func TestLockOfWhoHasLeftGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a, _ := twoClients(t)
		for range 200 {
			lease := must(a.Mutex("m").Lock(t.Context()))(t)
			ctx, cancel := context.WithCancel(t.Context())
			got := make(chan *holdfast.Lease, 1)
			go func() {
				lease, _ := a.Mutex("m").Lock(ctx)
				got <- lease
			}()
			synctest.Wait()
			cancel() // it is about to leave
			lease.Release(t.Context())
			if lease := <-got; lease != nil {
				lease.Release(t.Context())
			}
			synctest.Wait()
			if lease, err := a.Mutex("m").TryLock(t.Context()); err != nil {
				t.Fatalf("nobody has the lock, and it is not free: %v", err)
			} else {
				lease.Release(t.Context())
			}
		}
	})
}

// A lock that nobody has, because it is not known yet whether the next may have it, is given back at once when
// the client closes.
func TestLockKeptForAnAnswerIsGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const slow = time.Second
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		l, a, b := twoClients(t, holdfast.WithLocalHandoff(1), holdfast.WithTTL(10*time.Minute))
		first := must(a.Mutex("m").Lock(ctx))(t)
		second := make(chan *holdfast.Lease)
		go func() { second <- must(a.Mutex("m").Lock(ctx))(t) }()
		synctest.Wait()
		third := make(chan error)
		go func() {
			_, err := a.Mutex("m").Lock(ctx)
			third <- err
		}()
		synctest.Wait()
		l.set(faults{slow: slow})
		first.Release(ctx)
		(<-second).Release(ctx) // and who waits elsewhere is asked for
		synctest.Wait()
		began := time.Now()
		if err := a.Close(ctx); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took > slow {
			t.Errorf("Close took %v, want %v: it need not know the answer", took, slow)
		}
		wantErr(t, <-third, holdfast.ErrClosed)
		must(b.Mutex("m").TryLock(ctx))(t).Release(ctx)
	})
}
