package driver_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// moved is the Wait of a driver on which every claim has always moved.
func moved(context.Context, driver.Claim) (driver.Status, error) { return driver.Status{}, nil }

// A subscriber that is told to ask is not told so again while it asks, but for a pause that is long.
func TestFollowersTellToAskOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fs := &driver.Followers{Wait: moved}
		var told []time.Duration
		began := time.Now()
		fs.Subscribe(func(driver.Event) { told = append(told, time.Since(began)) })
		waiting := op(driver.OpRequest, "a")
		fs.Note(waiting, driver.Result{})
		time.Sleep(500 * time.Millisecond)
		fs.Note(waiting, driver.Result{})
		time.Sleep(1400 * time.Millisecond)
		fs.Close()
		want := []time.Duration{0, 500 * time.Millisecond, 1500 * time.Millisecond}
		if !slices.Equal(told, want) {
			t.Errorf("told after %v, want %v", told, want)
		}
	})
}

// A watch has begun when the driver says so: until then a change could escape it, and OpWatch has no result.
func TestFollowersWatchOnceItHasBegun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fs := &driver.Followers{Changed: func(ctx context.Context, _ string, begun func()) error {
			driver.Sleep(ctx, time.Second)
			begun()
			<-ctx.Done()
			return ctx.Err()
		}}
		fs.Subscribe(func(driver.Event) {})
		began := time.Now()
		for range 2 { // the second finds the watch of the first
			go func() {
				if err := fs.Watch(t.Context(), "m"); err != nil || time.Since(began) != time.Second {
					t.Errorf("%v after %v, want the second that the watch takes to begin", err, time.Since(began))
				}
			}()
		}
		hasty, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if err := fs.Watch(hasty, "m"); err == nil {
			t.Error("a watch has begun before it has")
		}
		time.Sleep(2 * time.Second)
		fs.Close()
	})
}
