package holdfast_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
)

// A holder that asks Err hears of a break at once, though it never asked for a context.
func TestErrHearsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, _, b, lease := firstHolds(t)
		if err := lease.Err(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(ttl / 10) // until the backend was told to tell
		asked := time.Now()
		if err := b.Break(t.Context(), "m", queued(t, b, "m")[0].ID); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		wantErr(t, lease.Err(), holdfast.ErrLost)
		if took := time.Since(asked); took >= ttl/3 { // when a renewal is due
			t.Errorf("it took %v", took)
		}
	})
}
