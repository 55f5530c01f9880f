package holdfast_test

import (
	"context"
	"testing"
	"testing/synctest"

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
