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
