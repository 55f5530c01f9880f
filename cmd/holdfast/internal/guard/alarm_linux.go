package guard

import (
	"time"

	"golang.org/x/sys/unix"
)

// An alarm wakes a guard: a timer that counts while the machine is suspended.
type alarm struct{ timer int }

func newAlarm() *alarm {
	timer, err := unix.TimerfdCreate(unix.CLOCK_BOOTTIME, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		timer = -1
	}
	return &alarm{timer: timer}
}

// tick is how often a guard looks at the clock where there is no timer.
const tick = 100 // milliseconds

// await returns when the time has come, or when something was said where it hears.
func (a *alarm) await(at time.Duration, hearing []unix.PollFd) {
	limit := -1
	end := &unix.ItimerSpec{Value: unix.NsecToTimespec(int64(at))}
	if a.timer < 0 || unix.TimerfdSettime(a.timer, unix.TFD_TIMER_ABSTIME, end, nil) != nil {
		limit = tick
	}
	on := append(hearing, unix.PollFd{Fd: int32(a.timer), Events: unix.POLLIN})
	_, _ = unix.Poll(on, limit) // interrupted, it looks again
}
