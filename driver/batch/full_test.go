package batch

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// A full engine counts the operations of each batch, and has no use for more than three together.
type full struct {
	echo
	mu      sync.Mutex
	batches []int
}

func (*full) Traits() driver.Traits { return driver.Traits{Alone: 1, Full: 3, MaxInFlight: 3} }

func (f *full) Do(ctx context.Context, ops []driver.Op, done func(int, driver.Result)) {
	f.mu.Lock()
	f.batches = append(f.batches, len(ops))
	f.mu.Unlock()
	f.echo.Do(ctx, ops, done)
}

// A full batch leaves while goroutines that have not asked yet get their turn, if there is room for it. What is left
// gathers for the goroutine that is about to take it.
func TestFullBatch(t *testing.T) {
	for _, row := range []struct {
		name     string
		attempts int // that are under way
		want     int // batches that have left
	}{{"there is room", 1, 2}, {"there is none", 3, 0}} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &full{}
				s := New(f, nil)
				op := numbered(0)
				l := s.lane(s.laneKey(&op, time.Minute))
				l.leaving, l.inFlight, l.attempts = true, row.attempts, make([]*attempt, row.attempts)
				for i := range l.attempts {
					l.attempts[i] = &attempt{lane: l, ctx: t.Context()}
				}
				for n := range 7 {
					go s.Do(t.Context(), numbered(n), time.Minute)
				}
				synctest.Wait()
				if len(f.batches) != row.want || len(l.gathered) != 7-3*row.want {
					t.Errorf("batches of %v have left, and %d operations wait", f.batches, len(l.gathered))
				}
				for _, n := range f.batches {
					if n != 3 {
						t.Errorf("a batch has %d operations", n)
					}
				}
				s.work(l) // as the goroutine does that takes the rest
			})
		})
	}
}
