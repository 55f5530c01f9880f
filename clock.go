package holdfast

import (
	"time"

	"github.com/holdfast-go/holdfast/internal/boottime"
)

// An instant is a reading of the clock by which leases are judged. Only differences between two of them mean anything.
type instant time.Duration

func (t instant) add(d time.Duration) instant { return t + instant(d) }
func (t instant) sub(u instant) time.Duration { return time.Duration(t - u) }
func (t instant) time() time.Time             { return time.Now().Add(t.sub(now())) }

// firstRealYear separates the fake clock of a testing/synctest bubble, which starts in 2000, from a real one.
const firstRealYear = 2020

var (
	started   = time.Now()
	bubble    = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	realSince = time.Date(firstRealYear, 1, 1, 0, 0, 0, 0, time.UTC)
)

// now reads the clock of leases. Go's own monotonic clock stops while a Linux machine is suspended, and the server's
// does not, so there it is CLOCK_BOOTTIME. In a synctest bubble it is the bubble's clock. Elsewhere it is whichever of
// Go's monotonic clock and the wall clock has gone further since the start: a suspended machine shows as a jump of the
// wall clock, and so does a clock set forward, for which leases are then lost rather than held too long.
func now() instant {
	t := time.Now()
	if t.Before(realSince) {
		return instant(t.Sub(bubble))
	}
	if boot, ok := boottime.Now(); ok {
		return instant(boot)
	}
	return instant(max(t.Sub(started), t.Round(0).Sub(started.Round(0))))
}
