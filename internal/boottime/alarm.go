package boottime

import "time"

// An Alarm wakes the goroutine that waits for it. Any goroutine may set it; one waits, and closes it in the end.
type Alarm interface {
	// Set has the alarm go off in d from now, or at once when d is not positive, in place of what was set before.
	Set(d time.Duration)
	// Wait returns when the alarm has gone off, or the machine was suspended or its clock was set. It may return early,
	// so whoever waits looks at its own clock.
	Wait()
	Close()
}

// NewAlarm returns an alarm that is not set. On Linux the kernel keeps it, for a file descriptor and a system call for
// each Set. Elsewhere, in bubbles, and where the kernel gives no descriptor it looks ten times a second.
func NewAlarm() Alarm {
	if !InBubble(time.Now()) {
		if a := newKernelAlarm(); a != nil {
			return a
		}
	}
	return newTicking()
}
