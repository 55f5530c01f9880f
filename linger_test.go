package holdfast_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/memlock"
)

// A release before the least time is over tells the truth like any other, whether the backend leaves claims alone or not,
// and also when a renewal is under way that will tell of the loss.
func TestLossBeforeTheLeastTime(t *testing.T) {
	for name, detach := range map[string]bool{"left alone": true, "kept": false} {
		for when, pause := range map[string]time.Duration{"at once": 0, "during a renewal": ttl/3 - 200*time.Millisecond} {
			t.Run(name+", "+when, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					store := memlock.New()
					l := overLine(store)
					a := newClient(t, withTraits{l, func(tr *driver.Traits) { tr.Detach = detach }})
					b := newClient(t, store.Client())
					lease := must(a.Mutex("tick", holdfast.WithMinHold(time.Hour)).Lock(t.Context()))(t)
					if pause > 0 {
						time.Sleep(pause)
						l.set(faults{slow: time.Second})
					}
					if err := b.Break(t.Context(), "tick", queued(t, b, "tick")[0].ID); err != nil {
						t.Fatal(err)
					}
					must(b.Mutex("tick").Lock(t.Context()))(t)
					if pause > 0 {
						time.Sleep(500 * time.Millisecond)
					}
					wantErr(t, lease.Release(t.Context()), holdfast.ErrLost)
				})
			})
		}
	}
}
