package leasedtest

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// A room has place for one, and notices when there are two.
type room struct{ inside, crowds, visits atomic.Int32 }

// visit spends a moment in the room.
func (r *room) visit() {
	if r.inside.Add(1) > 1 {
		r.crowds.Add(1)
	}
	driver.Sleep(context.Background(), 200*time.Microsecond)
	r.inside.Add(-1)
	r.visits.Add(1)
}

// alone fails unless never two were inside.
func (r *room) alone(t testing.TB) {
	t.Helper()
	if n := r.crowds.Load(); n > 0 {
		t.Errorf("two were inside %d times", n)
	}
}

// visited fails unless somebody was inside often enough.
func (r *room) visited(t testing.TB, least int32) {
	t.Helper()
	if n := r.visits.Load(); n < least {
		t.Errorf("somebody was inside %d times, want at least %d", n, least)
	}
}
