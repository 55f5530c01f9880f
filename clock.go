package holdfast

import (
	"sync/atomic"
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
	realSince = time.Date(firstRealYear, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
)

// now reads the clock of leases. Go's own monotonic clock stops while a Linux machine is suspended, and the server's
// does not, so there it is CLOCK_BOOTTIME. In a synctest bubble it is the bubble's clock. Elsewhere it is whichever of
// Go's monotonic clock and the wall clock has gone further since the start: a suspended machine shows as a jump of the
// wall clock, and so does a clock set forward, for which leases are then lost rather than held too long.
func now() instant {
	t := time.Now()
	if t.Unix() < realSince {
		return instant(t.Sub(bubble))
	}
	ran := t.Sub(started)
	jumped := time.Duration(t.UnixNano()-started.UnixNano()) - ran
	if boot, ok := sinceBoot(ran, jumped); ok {
		return instant(boot)
	}
	return instant(ran + max(jumped, 0))
}

// A parting is how far clocks had gone apart when CLOCK_BOOTTIME was read, all counted from the start of this process.
type parting struct {
	jumped time.Duration // how far the wall clock was ahead of Go's monotonic clock
	slept  time.Duration // and CLOCK_BOOTTIME
}

var parted atomic.Pointer[parting]

// samePace is how far the wall clock and the monotonic clock may part before somebody looks why. They are read one after
// the other, so they never agree to the nanosecond.
const samePace = time.Millisecond

// sinceBoot is CLOCK_BOOTTIME when Go's monotonic clock has run for so long and the wall clock jumped by so much. To ask
// the kernel takes as long as many other things that a lock needs together. So that is done only where the machine can
// have been suspended since: then the wall clock has left the monotonic one behind.
func sinceBoot(ran, jumped time.Duration) (time.Duration, bool) {
	p := parted.Load()
	if p != nil && (jumped-p.jumped).Abs() < samePace {
		return ran + p.slept, true
	}
	boot, ok := boottime.Now()
	if !ok {
		return 0, false
	}
	next := &parting{jumped: jumped, slept: boot - ran}
	if p != nil {
		next.slept = max(next.slept, p.slept) // this clock never goes back
	}
	if !parted.CompareAndSwap(p, next) {
		return sinceBoot(ran, jumped) // somebody else has just looked
	}
	return ran + next.slept, true
}
