//go:build unix

package child

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// stopped reacts to the command being stopped. One that wanted the terminal gets it, if this job has it; one that the
// user suspends takes this process along, as every job. A stop by SIGSTOP is somebody else's intent.
func (c *Child) stopped(by syscall.Signal) {
	switch by {
	case syscall.SIGTTIN, syscall.SIGTTOU:
		if c.tty.lend(c.pid) {
			_ = c.Signal(syscall.SIGCONT) // it may be gone by now
			return
		}
		c.suspend()
	case syscall.SIGTSTP:
		c.suspend()
	}
}

// suspend stops the whole group, then this process. When that is continued, the command is too, unless Resume objects.
func (c *Child) suspend() {
	if hasJobControl() {
		_ = c.Signal(syscall.SIGSTOP) // also those who ignored the polite request
		lent := c.tty.takeBack()
		stopSelf()
		if !c.resume() {
			c.killAll()
			return
		}
		if lent {
			c.tty.lend(c.pid)
		}
	}
	_ = c.Signal(syscall.SIGCONT)
}

// hasJobControl reports whether there may be a shell that would continue this process: it runs its jobs in groups of
// their own.
func hasJobControl() bool {
	session, err := unix.Getsid(os.Getpid())
	return err == nil && session != unix.Getpgrp()
}
