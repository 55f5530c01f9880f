package holdfasttest_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/holdfasttest"
)

// A shop writes its stock under a lock. Its resource refuses old tokens, so a seller that is late does no harm.
func ExampleSweep() {
	_ = func(t *testing.T) { // a test of your own
		holdfasttest.Sweep(t, func(ctx context.Context, r *holdfasttest.Run) error {
			if err := r.Write("stock", r.Lease.Token()); err != nil {
				return err
			}
			return r.Write("bill", r.Lease.Token())
		})
	}
}

// The network of a process fails while it holds a lock: its work is told before another has it.
func ExampleProcess_Cut() {
	_ = func(t *testing.T) { // a test of your own
		synctest.Test(t, func(t *testing.T) {
			store := holdfasttest.NewStore()
			p := store.Process(t)
			err := p.Mutex("report").Do(t.Context(), func(ctx context.Context, _ *holdfast.Lease) error {
				p.Cut()
				<-ctx.Done() // at once, in a bubble
				return nil
			})
			if !errors.Is(err, holdfast.ErrLost) {
				t.Errorf("the work reported %v", err)
			}
		})
	}
}
