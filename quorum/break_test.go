package quorum

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/memlock"
)

// A node that is to refuse a round of a claim does so whether it has it or not: a request for it may be under way.
func TestBarredRound(t *testing.T) {
	d := &Driver{traits: driver.Traits{MaxTTL: time.Minute}}
	for _, there := range []bool{false, true} {
		store := drivertest.NewFacade(memlock.New())
		c := driver.Claim{Name: "jobs", ID: driver.NewID(), Weight: 1, Limit: 1, TTL: time.Minute}
		if there {
			if st, err := store.Request(t.Context(), c); err != nil || !st.Granted {
				t.Fatal(st, err)
			}
		}
		for range 2 {
			if err := d.barRound(t.Context(), nodeOf(store), c); err != nil {
				t.Errorf("it is there: %t; %v", there, err)
			}
		}
		if st, err := store.Request(t.Context(), c); !errors.Is(err, driver.ErrGone) {
			t.Errorf("it was there: %t; asked for after that: %+v, %v", there, st, err)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := d.barRound(ended, nodeOf(memlock.New()), driver.Claim{Name: "jobs", ID: "any"}); err == nil {
		t.Error("a node that did not answer counts as one that refuses the round")
	}
}
