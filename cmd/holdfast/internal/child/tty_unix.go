//go:build unix

package child

import (
	"os"
	"os/signal"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// A tty is the terminal that controls this process. The nil tty is that of a process without one.
type tty struct {
	file *os.File

	mu   sync.Mutex
	lent bool // to the command
}

// openTTY returns the controlling terminal. The process must not start children until it is closed: from here on it
// ignores SIGTTOU, which a process in the background gets for taking the terminal back, and children would inherit
// that.
func openTTY() *tty {
	f, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return nil
	}
	signal.Ignore(syscall.SIGTTOU)
	return &tty{file: f}
}

// lend makes the command the foreground job, and reports whether it is. It refuses when another job than ours has the
// terminal.
func (t *tty) lend(pid int) bool {
	if t == nil {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	owner := t.owner()
	if owner == unix.Getpgrp() && t.giveTo(pid) == nil {
		owner = pid
	}
	t.lent = owner == pid
	return t.lent
}

// takeBack makes this process the foreground job again, if the command was, and reports that.
func (t *tty) takeBack() bool {
	if t == nil {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.lent {
		return false
	}
	t.lent = false
	return t.giveTo(unix.Getpgrp()) == nil
}

// isContinued looks whether the command still has the terminal, when this process was let go on: a shell that saw it
// stop has taken that, and keeps it if this job is to go on in the background.
func (t *tty) isContinued(pid int) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lent = t.lent && t.owner() == pid
}

// close gives the file back.
func (t *tty) close() {
	if t == nil {
		return
	}
	signal.Reset(syscall.SIGTTOU)
	heed(syscall.SIGTTOU) // the next command would inherit that it is ignored
	_ = t.file.Close()    // nothing was written
}

// owner returns the group that has the terminal, zero when that is unknown.
func (t *tty) owner() int {
	group, err := unix.IoctlGetInt(int(t.file.Fd()), unix.TIOCGPGRP)
	if err != nil {
		return 0
	}
	return group
}

func (t *tty) giveTo(group int) error {
	return unix.IoctlSetPointerInt(int(t.file.Fd()), unix.TIOCSPGRP, group)
}

// areTerminals reports whether all files are terminals: then nobody else in a pipeline needs the terminal, and the
// command may have it before it asks.
func areTerminals(files ...*os.File) bool {
	for _, f := range files {
		if !term.IsTerminal(int(f.Fd())) {
			return false
		}
	}
	return true
}
