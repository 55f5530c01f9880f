package holdfast

import (
	"sync"
	"testing"
	"time"
)

// Goroutines that set values at once get stamps that differ, each after what it was to follow.
func TestStampsOfMany(t *testing.T) {
	const goroutines, rounds = 8, 50_000
	var s stamps
	var crowd sync.WaitGroup
	var stamped [goroutines][]time.Time
	for g := range goroutines {
		crowd.Go(func() {
			for range rounds {
				other := time.UnixMicro(s.last.Load() + 1)
				s.follow(other)
				stamp := s.next()
				if !stamp.After(other) {
					t.Errorf("%v is not after %v", stamp, other)
				}
				stamped[g] = append(stamped[g], stamp)
			}
		})
	}
	crowd.Wait()
	seen := make(map[int64]bool)
	for _, stamps := range stamped {
		for _, stamp := range stamps {
			if seen[stamp.UnixMicro()] {
				t.Fatalf("two have the stamp %v", stamp)
			}
			seen[stamp.UnixMicro()] = true
		}
	}
}
