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
			if r := one(t, d, driver.OpWatch, driver.Claim{Name: strconv.Itoa(i)}); r.Err != nil {
				t.Fatal(r.Err)
			}
		}
		if n := len(d.store.locks); n != 100 {
			t.Errorf("%d locks are watched, want 100", n)
		}
		time.Sleep(driver.WatchTime + time.Second)
		for range 10 * leastUses {
			one(t, d, driver.OpQueue, driver.Claim{Name: "other"})
		}
		if n := len(d.store.locks); n > 1 {
			t.Errorf("%d locks are kept", n)
		}
	})
}
