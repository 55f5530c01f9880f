package pgroup

import (
	"syscall"

	"golang.org/x/sys/unix"
)

func open(leader int) int {
	fd, err := unix.PidfdOpen(leader, 0)
	if err != nil {
		return -1
	}
	return fd
}

// toGroup is PIDFD_SIGNAL_PROCESS_GROUP: the signal goes to the group that the process leads, or led.
const toGroup = 1 << 2

// signal signals the group of a leader, of which nothing may be left. It reports whether the kernel can.
func signal(leader int, sig syscall.Signal) (err error, can bool) {
	if leader < 0 {
		return nil, false
	}
	err = unix.PidfdSendSignal(leader, sig, nil, toGroup)
	return err, err != unix.EINVAL && err != unix.ENOSYS
}
