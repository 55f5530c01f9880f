package child

import (
	"os"
	"syscall"

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

// stopSelf stops this process until somebody continues it. The signal is sent to the calling thread, which therefore
// does not run on before it has effect.
func stopSelf() {
	_ = unix.Tgkill(os.Getpid(), unix.Gettid(), unix.SIGSTOP) // cannot fail for oneself
}
