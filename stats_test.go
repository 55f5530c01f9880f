package holdfast_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/memlock"
)

func TestStats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memlock.New()
		wire := overLine(store.Client())
		other, client := holdfast.New(store.Client()), holdfast.New(wire)
		defer other.Close(context.Background())
		defer client.Close(context.Background())
		if s := client.Stats(); s != (holdfast.Stats{Backend: "mem"}) {
			t.Errorf("a client that does nothing: %+v", s)
		}
		theirs, err := other.Mutex("taken").Lock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.Mutex("ours").Lock(t.Context()); err != nil {
			t.Fatal(err)
		}
		got := make(chan *holdfast.Lease)
		for range 3 { // at the gate
			go func() {
				l, _ := client.Mutex("taken").Lock(t.Context())
				got <- l
			}()
		}
		go func() { // by itself
			l, _ := client.RWMutex("taken").RLock(t.Context())
			got <- l
		}()
		synctest.Wait()
		if s := client.Stats(); s.Held != 1 || s.Waiting != 4 || s.Validity <= 0 || s.Validity > holdfast.DefaultTTL {
			t.Errorf("one held and four waiting: %+v", s)
		}
		if err := theirs.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		for range 4 {
			(<-got).Release(t.Context())
		}
		if s := client.Stats(); s.Held != 1 || s.Waiting != 0 || s.FailedRenewals != 0 {
			t.Errorf("all were served: %+v", s)
		}
		wire.set(faults{cut: true})
		time.Sleep(holdfast.DefaultTTL)
		if s := client.Stats(); s.Held != 0 || s.Validity != 0 || s.FailedRenewals == 0 {
			t.Errorf("the backend is silent: %+v", s)
		}
		wire.set(faults{})
	})
}
