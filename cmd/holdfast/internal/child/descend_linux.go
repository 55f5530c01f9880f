package child

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
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

// killChildren kills the children of this process, among them orphans that left the process group. Their children
// become ours, and are found the next time.
func killChildren() {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is fine
	for _, path := range stats {
		if pid, parent := readStat(path); parent == os.Getpid() {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may be gone by now
		}
	}
}

// readStat returns the IDs of a process and its parent; zeros when it is gone.
func readStat(path string) (pid, parent int) {
	stat, err := os.ReadFile(path)
	if err != nil {
		return 0, 0
	}
	// PID (NAME) STATE PARENT ..., where NAME may contain anything.
	line := string(stat)
	fields := strings.Fields(line[strings.LastIndexByte(line, ')')+1:])
	if len(fields) < 2 {
		return 0, 0
	}
	pid, _ = strconv.Atoi(filepath.Base(filepath.Dir(path)))
	parent, _ = strconv.Atoi(fields[1])
	return pid, parent
}

// stopSelf stops this process until somebody continues it. The signal is sent to the calling thread, which therefore
// does not run on before it has effect.
func stopSelf() {
	_ = unix.Tgkill(os.Getpid(), unix.Gettid(), unix.SIGSTOP) // cannot fail for oneself
}
