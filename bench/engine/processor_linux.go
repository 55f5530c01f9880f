package engine

import (
	"time"

	"golang.org/x/sys/unix"
)

// clockOf is the time that a process has used, with that of its threads that have ended: by its clock, whose number
// clock_getcpuclockid(3) would tell.
func clockOf(pid int) (used time.Duration, ok bool) {
	const scheduled = 2
	var t unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|scheduled), &t); err != nil {
		return 0, false
	}
	return time.Duration(t.Nano()), true
}
