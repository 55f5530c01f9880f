package memlock

import (
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// A lock that somebody has watched is forgotten some time later, though it was never used.
func TestWatchesAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := New()
		defer d.Subscribe(func(driver.Event) {})()
		for i := range 100 {
			watch := driver.Op{Kind: driver.OpWatch, Claim: driver.Claim{Name: strconv.Itoa(i)}}
			d.Do(t.Context(), []driver.Op{watch}, func(_ int, r driver.Result) {
				if r.Err != nil {
					t.Fatal(r.Err)
				}
			})
		}
		if n := len(d.store.locks); n != 100 {
			t.Errorf("%d locks are watched, want 100", n)
		}
		time.Sleep(driver.WatchTime + time.Second)
		for range 10 * leastUses {
			d.Queue(t.Context(), "other")
		}
		if n := len(d.store.locks); n > 1 {
			t.Errorf("%d locks are kept", n)
		}
	})
}
