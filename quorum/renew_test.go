package quorum

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/memlock"
)

// A node may take as long as the caller waits, but not most of the TTL, and never less than any node gets.
func TestRenewsWithin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const ttl = 10 * time.Second
		d := &Driver{}
		if got, want := d.renewsWithin(t.Context(), ttl), d.patience(ttl); got != want {
			t.Errorf("a caller who waits for ever: %v, want %v", got, want)
		}
		for _, row := range []struct{ waits, want time.Duration }{
			{time.Millisecond, d.patience(ttl)}, {4 * time.Second, 4 * time.Second}, {9 * time.Second, ttl / 2},
		} {
			ctx, cancel := context.WithTimeout(t.Context(), row.waits)
			if got := d.renewsWithin(ctx, ttl); got != row.want {
				t.Errorf("a caller who waits for %v: %v, want %v", row.waits, got, row.want)
			}
			cancel()
		}
	})
}

// A claim is renewed under the token that it has on the node itself, whoever has one there besides.
func TestTokenOnANode(t *testing.T) {
	store := drivertest.NewFacade(memlock.New())
	claims := make([]driver.Claim, 3)
	for i := range claims {
		claims[i] = driver.Claim{Name: "jobs", ID: driver.NewID(), Weight: 1, Limit: 2, TTL: time.Minute, Queue: true}
		st, err := store.Request(t.Context(), claims[i])
		if err != nil || st.Granted != (i < 2) {
			t.Fatal(st, err)
		}
		want, known := st.Token, claims[i]
		if known.Token = 1; !st.Granted { // who waits has none yet
			want = 1
		}
		if got := tokenOn(t.Context(), nodeOf(store), known); got != want {
			t.Errorf("claim %d: %d, want %d", i, got, want)
		}
	}
	gone := driver.Claim{Name: "jobs", ID: driver.NewID(), Token: 7}
	if got := tokenOn(t.Context(), nodeOf(store), gone); got != 7 {
		t.Errorf("a claim that is not there: %d, want that under which it is known", got)
	}
}

// nodeOf is a node that was reached.
func nodeOf(d driver.Driver) *node {
	n := newNode(0, "node")
	n.linkTo(d)
	return n
}
