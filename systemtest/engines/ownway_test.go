package engines

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/opened"
)

// rounds is how often a client is tried: in its own way it was in nine of a hundred on Redis.
const rounds = 50

// A client whose wait has timed out acquires the lock as soon as it is free, without a wait: its abandoned claim is not
// in its way.
func TestAbandonedClaimIsNotInTheWay(t *testing.T) {
	onEach(t, func(t *testing.T, _ store, url string) {
		opts := holdfast.WithTTL(time.Minute)
		holder, waiter := opened.ClientBesideFaults(t, url, opts), opened.ClientBesideFaults(t, url, opts)
		name, inItsWay := driver.NewID(), 0
		for range rounds {
			lease, err := holder.Mutex(name).Lock(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			got, err := waiter.Mutex(name).Lock(ctx)
			cancel()
			if err == nil {
				t.Fatalf("acquired what another has, with the token %d", got.Token())
			}
			if err := lease.Release(t.Context()); err != nil {
				t.Fatal(err)
			}
			lease, err = waiter.Mutex(name).TryLock(t.Context())
			switch {
			case errors.Is(err, holdfast.ErrNotAcquired):
				inItsWay++
				continue
			case err != nil:
				t.Fatal(err)
			}
			if err := lease.Release(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if inItsWay > 0 {
			t.Errorf("in %d of %d rounds a free lock was called taken", inItsWay, rounds)
		}
	})
}
