package leasedtest

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// A Room has place for one, and notices when there are two.
type Room struct {
	inside atomic.Int32
	crowds atomic.Int32

	mu     sync.Mutex
	visits map[string]int
}

// Visit spends a moment in the room.
func (r *Room) Visit(who string) {
	if r.inside.Add(1) > 1 {
		r.crowds.Add(1)
	}
	driver.Sleep(context.Background(), 200*time.Microsecond)
	r.inside.Add(-1)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.visits == nil {
		r.visits = make(map[string]int)
	}
	r.visits[who]++
}

// Judge fails unless never two were inside, and each of these was there often enough.
func (r *Room) Judge(t *testing.T, least int, who ...string) {
	t.Helper()
	r.Alone(t)
	r.Visited(t, least, who...)
}

// Alone fails unless never two were inside.
func (r *Room) Alone(t testing.TB) {
	t.Helper()
	if n := r.crowds.Load(); n > 0 {
		t.Errorf("two were inside %d times", n)
	}
}

// Visited fails unless each of these was inside often enough.
func (r *Room) Visited(t testing.TB, least int, who ...string) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	t.Logf("visits: %v", r.visits)
	for _, w := range who {
		if r.visits[w] < least {
			t.Errorf("%s was inside %d times, want at least %d", w, r.visits[w], least)
		}
	}
}
