package leased

import (
	"time"

	"github.com/holdfast-go/holdfast/internal/boottime"
)

// An Instant is a reading of a clock that goes on while the machine is suspended, because leases on the server do.
type Instant int64

var started = time.Now()

// Now reads the clock. In a synctest bubble it is the bubble's.
func Now() Instant {
	if t := time.Now(); boottime.InBubble(t) {
		return Instant(t.UnixNano())
	}
	if sinceBoot, ok := boottime.Now(); ok {
		return Instant(sinceBoot)
	}
	return Instant(time.Since(started))
}

// Add returns the instant d later.
func (t Instant) Add(d time.Duration) Instant { return t + Instant(d) }

// Sub returns the time from u to t.
func (t Instant) Sub(u Instant) time.Duration { return time.Duration(t - u) }
