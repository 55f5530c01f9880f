package boottime

import (
	"errors"
	"os"
	"syscall"
	"time"
	"unsafe"
)

// Of timerfd_create(2).
const (
	clockRealtime = 0
	absolute      = 1 << 0 // TFD_TIMER_ABSTIME
	cancelOnSet   = 1 << 1 // TFD_TIMER_CANCEL_ON_SET
)

// A kernelAlarm is a timerfd on the wall clock, which goes off when that is set, too: then nobody knows how much time
// has passed before whoever waits has looked. CLOCK_BOOTTIME would do for a machine that was suspended, but stands
// still with a virtual machine that is paused.
type kernelAlarm struct {
	file *os.File
	conn syscall.RawConn
}

func newKernelAlarm() Alarm {
	fd, _, errno := syscall.Syscall(syscall.SYS_TIMERFD_CREATE, clockRealtime, syscall.O_CLOEXEC|syscall.O_NONBLOCK, 0)
	if errno != 0 {
		return nil
	}
	a := &kernelAlarm{file: os.NewFile(fd, "timerfd")}
	conn, err := a.file.SyscallConn()
	if a.conn = conn; err != nil || a.set(time.Hour) != nil {
		a.Close()
		return nil
	}
	return a
}

// Set goes off at once where the kernel cannot be told otherwise: the clock was set just now.
func (a *kernelAlarm) Set(d time.Duration) {
	if a.set(d) != nil {
		a.set(0)
	}
}

// An itimerspec is the argument of timerfd_settime(2).
type itimerspec struct{ interval, value syscall.Timespec }

func (a *kernelAlarm) set(d time.Duration) (err error) {
	spec := itimerspec{value: syscall.NsecToTimespec(time.Now().Add(max(d, 0)).UnixNano())}
	failed := a.conn.Control(func(fd uintptr) {
		_, _, errno := syscall.Syscall6(syscall.SYS_TIMERFD_SETTIME, fd, absolute|cancelOnSet,
			uintptr(unsafe.Pointer(&spec)), 0, 0, 0)
		if errno != 0 {
			err = errno
		}
	})
	return errors.Join(err, failed)
}

func (a *kernelAlarm) Wait() {
	var count [8]byte
	if _, err := a.file.Read(count[:]); err != nil && !errors.Is(err, syscall.ECANCELED) {
		time.Sleep(Tick)
	}
}

func (a *kernelAlarm) Close() { a.file.Close() }
