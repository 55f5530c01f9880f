//go:build unix && !linux

package guard

import (
	"time"

	"golang.org/x/sys/unix"
)

// An alarm wakes a guard.
type alarm struct{}

func newAlarm() *alarm { return &alarm{} }

// tick bounds how long a guard does not look at the clock, which may have been set.
const tick = 100 * time.Millisecond

// await returns when the time has come, when something was said where it hears, or to have the clock looked at.
func (*alarm) await(at time.Duration, hearing []unix.PollFd) {
	limit := tick
	if at > 0 {
		limit = min(limit, max(at-clock(), 0))
	}
	_, _ = unix.Poll(hearing, int(limit.Milliseconds())+1) // interrupted, it looks again
}
