//go:build unix

package experiment

import (
	"syscall"
	"time"
)

// processorTime is what this process has used so far.
func processorTime() (used time.Duration, ok bool) {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0, false
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), true
}
