package child

import (
	"os"
	"os/signal"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// sysProcAttr makes the child a group leader that dies with the thread that started it.
func sysProcAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// adoptOrphans makes this process the parent of what descends from it and lost its own parent.
func adoptOrphans() {
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) // without it, what leaves the group is not found
}

// mayHaveOthers reports whether this process may have children beside a command: those it has now, which are of the
// program that became this one, or those that the first process adopts from everybody.
func mayHaveOthers() bool {
	return os.Getpid() == 1 || unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil) == nil
}

// awaitChild waits until there is a child to be waited for.
func awaitChild() {
	for unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WSTOPPED|unix.WNOWAIT, nil) == unix.EINTR {
	}
}

// hasEnded reports whether a child has ended that was not waited for yet. Until then nobody else gets its ID or that of
// its group.
func hasEnded(pid int) bool {
	var ended unix.Siginfo
	return unix.Waitid(unix.P_PID, pid, &ended, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil) == nil && ended.Signo != 0
}

// stopSelf stops this process until somebody continues it, by a signal that it ignores until then. The signal is sent
// to the calling thread, which therefore does not run on before it has effect. Where nobody would be told of it, the
// kernel takes no notice of such a signal.
func stopSelf(by syscall.Signal) {
	if !heed(by) || !isWatched() {
		by = unix.SIGSTOP
	}
	_ = unix.Tgkill(os.Getpid(), unix.Gettid(), by) // cannot fail for oneself
}

// isWatched reports whether the parent of this process is told of a stop: it is of our session and of another group, as
// a shell is that has jobs. With one of our own group nobody else may be there to be told.
func isWatched() bool {
	session, err := unix.Getsid(0)
	if err != nil {
		return false
	}
	parent := os.Getppid()
	parents, err := unix.Getsid(parent)
	if err != nil || parents != session {
		return false
	}
	group, err := unix.Getpgid(parent)
	return err == nil && group != unix.Getpgrp()
}

// heed has the kernel do about a signal what it does by default, and reports whether it does. Package signal cannot:
// once it has caught or ignored a signal that stops, that stays so. Zero is the default in the struct sigaction of any
// machine.
func heed(sig syscall.Signal) bool {
	signal.Ignore(sig) // or it would think that its handler is there still, when it is to catch the signal again
	var usual sigaction
	return sigactionOf(sig, &usual, nil)
}

// isIgnored reports whether the kernel ignores a signal. Package signal does not know which ones that stop it did
// before this process began.
func isIgnored(sig syscall.Signal) bool {
	var now sigaction
	return sigactionOf(sig, nil, &now) && *(*uintptr)(unsafe.Pointer(&now)) == ignore
}

// A sigaction has room for the struct sigaction of any machine. It begins with what is done, on those that have sets of
// signals of setSize.
type sigaction [8]uint64

const (
	setSize = 8 // of a set of signals; others have machines on which sigactionOf fails
	ignore  = 1 // SIG_IGN
)

// sigactionOf sets what is done about a signal, or asks for it, and reports whether it could.
func sigactionOf(sig syscall.Signal, set, get *sigaction) bool {
	_, _, err := unix.RawSyscall6(unix.SYS_RT_SIGACTION,
		uintptr(sig), uintptr(unsafe.Pointer(set)), uintptr(unsafe.Pointer(get)), setSize, 0, 0)
	return err == 0
}
