//go:build unix

package child

import (
	"os"
	"os/signal"
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
		c.suspend(syscall.SIGTTIN)
	case syscall.SIGTSTP:
		c.suspend(by)
	}
}

// suspend stops the whole group, then the job that this process is of. When this process is continued, the command is
// too, unless Resume objects.
func (c *Child) suspend(by syscall.Signal) {
	if hasJobControl() {
		_ = c.Signal(syscall.SIGSTOP) // also those who ignored the polite request
		lent := c.tty.takeBack()
		c.stopJob(by, lent)
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

// stopJob stops the group of this process by a signal that the terminal has sent to the command alone: a script that
// runs this process, and what is beside it in a pipeline, are of the job that the user suspends, and a shell or another
// holdfast that has started it understands the signal. Where the command did not have the terminal, Ctrl-Z was for all
// of the job already, or it was somebody else who suspends the command or this process, and nobody beside them. It
// returns when this process is continued.
func (c *Child) stopJob(by syscall.Signal, lent bool) {
	signal.Ignore(by)
	if lent || by != syscall.SIGTSTP {
		_ = syscall.Kill(0, by) // to all others: this process is the last
	}
	stopSelf(by)
	switch {
	case by != syscall.SIGTSTP:
	case c.suspended == nil:
		signal.Ignore(by)
	default:
		signal.Notify(c.suspended, by)
	}
}

// hasJobControl reports whether there may be a shell that would continue this process: it runs its jobs in groups of
// their own.
func hasJobControl() bool {
	session, err := unix.Getsid(os.Getpid())
	return err == nil && session != unix.Getpgrp()
}
