package quorum

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
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
