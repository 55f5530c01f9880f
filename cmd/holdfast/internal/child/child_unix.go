//go:build unix

package child

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/descend"
	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/guard"
	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/pgroup"
)

// A Child is a command that was started. Its methods are safe for concurrent use.
type Child struct {
	pid    int // of the command, and of its process group
	group  *pgroup.Group
	mark   string // of what descends from it; empty when this process has no other children
	tty    *tty
	resume func() bool

	suspended chan os.Signal // requests to suspend this process; nil when they are ignored

	guard     *guard.Guard  // nil when none is wanted
	dismissed chan struct{} // closed when the guard has ended, or at once where there is none
	deserted  chan struct{} // closed when that was before the command

	done, gone chan struct{}
	code       int // set before done is closed
}

// Start starts the command. With an error nothing of it lives.
func Start(cmd Command) (*Child, error) {
	if err := keepOpen(cmd.Inherit); err != nil {
		return nil, err
	}
	adoptOrphans()
	c := &Child{
		resume:    cmd.Resume,
		dismissed: make(chan struct{}),
		deserted:  make(chan struct{}),
		done:      make(chan struct{}),
		gone:      make(chan struct{}),
	}
	if mayHaveOthers() {
		c.mark = cmd.Mark
	}
	started := make(chan error)
	go func() {
		// The kernel ends the child when the thread that started it ends, so this thread stays until the child is gone.
		runtime.LockOSThread()
		err := c.start(cmd)
		if err != nil {
			close(c.gone)
		}
		started <- err
		if err == nil {
			c.follow()
		}
	}()
	return c, <-started
}

func (c *Child) start(cmd Command) error {
	c.suspended = catchSuspend()
	p, err := c.begin(cmd)
	if err != nil {
		c.letSuspend()
		return err
	}
	c.pid, c.group = p.Pid, pgroup.Of(p.Pid)
	c.tty = openTTY()
	if areTerminals(cmd.Stdin, cmd.Out, cmd.Err) {
		c.tty.lend(c.pid)
	}
	go c.passOn(c.suspended)
	return p.Release() // follow waits for all children, not for this one
}

// begin starts a guard, where one is wanted, and then the command.
func (c *Child) begin(cmd Command) (*os.Process, error) {
	attr := &os.ProcAttr{Env: cmd.Env, Files: []*os.File{cmd.Stdin, cmd.Out, cmd.Err}, Sys: sysProcAttr()}
	if cmd.Until == nil {
		close(c.dismissed)
		if guard.IsAddressed(cmd.Env, os.Getpid()) {
			return guard.BeginAlone(cmd.Path, cmd.Args, attr)
		}
		return os.StartProcess(cmd.Path, cmd.Args, attr)
	}
	p, err := c.beginGuarded(cmd, attr)
	if err != nil && c.guard != nil {
		c.dismissGuard()
	}
	return p, err
}

// beginGuarded starts the command when its guard is there, and knows it.
func (c *Child) beginGuarded(cmd Command, attr *os.ProcAttr) (p *os.Process, err error) {
	if c.guard, err = guard.Start(c.mark, cmd.Until, cmd.Inherit); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrUnguarded, err) // what was not found is not the command
	}
	p, err = c.guard.Begin(cmd.Path, cmd.Args, attr)
	if errors.Is(err, guard.ErrGone) {
		err = fmt.Errorf("%w: %w", ErrUnguarded, err)
	}
	return p, err
}

// Deserted is closed when the guard has ended before the command, so that nobody ends that if this process is stopped.
func (c *Child) Deserted() <-chan struct{} { return c.deserted }

// Until says until when the command may run, unless a later call says more. It is called by one goroutine.
func (c *Child) Until(when func() time.Time) { c.guard.Until(when) }

// WasLate reports whether the guard may have ended the command just now. Who calls Until calls it.
func (c *Child) WasLate() bool { return c.guard.WasLate() }

// leaveLimit bounds Leave: a process that was killed ends, unless it sleeps in the kernel.
const leaveLimit = time.Second

// Leave returns when the guard has ended, which has files open, after the command has. What it started may live on.
func (c *Child) Leave() {
	select {
	case <-c.dismissed:
	case <-time.After(leaveLimit):
	}
}

// keepOpen lets a child inherit files. They keep their numbers, so that those that the caller's shell has opened for
// the command are not replaced.
func keepOpen(files []*os.File) error {
	for _, f := range files {
		conn, err := f.SyscallConn()
		if err != nil {
			return err
		}
		var failed error
		if err := conn.Control(func(fd uintptr) { _, failed = unix.FcntlInt(fd, unix.F_SETFD, 0) }); err != nil {
			return err
		}
		if failed != nil {
			return failed
		}
	}
	return nil
}

// follow waits for the command and for what it leaves behind, until nothing of it is left.
func (c *Child) follow() {
	defer close(c.gone)
	defer c.tty.close()
	defer c.letSuspend()
	defer c.group.Close()
	guard := c.guard.ID()
	for {
		awaitChild()
		if guard != 0 && hasEnded(c.pid) && c.dismissGuard() {
			guard = 0
		}
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, syscall.WUNTRACED, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil: // no child is left
			c.awaitGroup()
			return
		case pid == guard && status.Stopped(): // it is there still
		case pid == guard:
			guard = 0 // another process may get its ID
			c.guard.Forget()
			close(c.dismissed)
			if !c.hasExited() && !hasEnded(c.pid) {
				close(c.deserted)
			}
		case pid != c.pid: // an orphan
		case status.Stopped():
			c.stopped(status.StopSignal())
		default:
			c.exited(status)
		}
		if c.mark != "" && guard == 0 && c.hasExited() && descend.Over(c.group.Lives, c.family().Lives) {
			return // the children that are left are others'
		}
	}
}

func (c *Child) hasExited() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// family is what descends from the command.
func (c *Child) family() descend.Family {
	return descend.Family{Parent: os.Getpid(), Spare: c.guard.ID(), Group: c.pid, Mark: c.mark}
}

// dismissGuard ends the guard, and reports whether it has ended: it must not be able to kill a group whose ID is free.
func (c *Child) dismissGuard() (ended bool) {
	c.guard.Dismiss()
	for limit := time.Now().Add(leaveLimit); time.Now().Before(limit); doze() {
		if pid, _ := syscall.Wait4(c.guard.ID(), nil, syscall.WNOHANG, nil); pid > 0 {
			c.guard.Forget()
			close(c.dismissed)
			return true
		}
	}
	return false
}

// doze pauses for 100 µs. Package time takes a millisecond for that in a process that is idle otherwise.
func doze() {
	pause := unix.NsecToTimeval(int64(100 * time.Microsecond))
	_, _ = unix.Select(0, nil, nil, nil, &pause) // interrupted, it is over
}

func (c *Child) exited(status syscall.WaitStatus) {
	c.guard.Dismiss()
	c.tty.takeBack()
	c.code = status.ExitStatus()
	if status.Signaled() {
		c.code = 128 + int(status.Signal())
	}
	close(c.done)
}

// groupPace is how often to look for what is left of the group where the kernel gives orphans to somebody else, so
// that their end cannot be waited for.
const groupPace = 10 * time.Millisecond

func (c *Child) awaitGroup() {
	for c.Signal(syscall.Signal(0)) == nil {
		time.Sleep(groupPace)
	}
}

// Signal sends a signal to the process group of the command.
func (c *Child) Signal(sig os.Signal) error { return c.group.Signal(sig.(syscall.Signal)) }

// Terminate asks the process group of the command to end. What is stopped is woken, so that it can.
func (c *Child) Terminate() error {
	err := c.Signal(syscall.SIGTERM)
	_ = c.Signal(syscall.SIGCONT) // it may be gone by now
	return err
}

// killAll returns an error when nothing of the group could be killed.
func (c *Child) killAll() error {
	err := c.Signal(syscall.SIGKILL)
	c.family().Kill()
	return err
}

// catchSuspend catches the request to suspend this process, from before the command starts: if this process stopped
// alone, the command would run on while nobody renews its lock. Where such requests are ignored they stay so, for the
// command too, and it returns nil.
func catchSuspend() chan os.Signal {
	if isIgnored(syscall.SIGTSTP) {
		return nil
	}
	requests := make(chan os.Signal, 1)
	signal.Notify(requests, syscall.SIGTSTP)
	return requests
}

// letSuspend has such a request suspend this process again, once there is no command.
func (c *Child) letSuspend() {
	if c.suspended != nil {
		signal.Stop(c.suspended)
		heed(syscall.SIGTSTP)
	}
}

// passOn hands signals to the command until nothing of it lives, and notices when this process was stopped.
func (c *Child) passOn(signals chan os.Signal) {
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, syscall.SIGCONT)
	defer signal.Stop(continued)
	for {
		select {
		case s := <-signals:
			_ = c.Signal(s) // it may be gone by now
		case <-continued:
			c.tty.isContinued(c.pid)
		case <-c.gone:
			return
		}
	}
}
