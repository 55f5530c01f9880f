package child

import (
	"os"
	"syscall"
	"time"
)

// A Child is a command that was started. Its methods are safe for concurrent use.
type Child struct {
	process    *os.Process
	done, gone chan struct{}
	code       int // set before done is closed
}

// Start starts the command. Handles are not inherited, and the command is never suspended by us.
func Start(cmd Command) (*Child, error) {
	p, err := os.StartProcess(cmd.Path, cmd.Args, &os.ProcAttr{
		Env:   cmd.Env,
		Files: []*os.File{cmd.Stdin, cmd.Out, cmd.Err},
		Sys:   &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP},
	})
	if err != nil {
		return nil, err
	}
	c := &Child{process: p, done: make(chan struct{}), gone: make(chan struct{})}
	go c.follow() // ends with the command
	return c, nil
}

func (c *Child) follow() {
	defer close(c.gone)
	defer close(c.done)
	state, err := c.process.Wait()
	if err != nil {
		c.code = 1
		return
	}
	c.code = state.ExitCode()
}

// Signal ends the command, because signals cannot be sent on Windows.
func (c *Child) Signal(os.Signal) error { return c.process.Kill() }

// Terminate ends the command, because it cannot be asked to end on Windows.
func (c *Child) Terminate() error { return c.killAll() }

func (c *Child) killAll() error { return c.process.Kill() }

// Until has nobody to tell: there are no guards on Windows.
func (c *Child) Until(func() time.Time) {}

// WasLate is false for the same reason.
func (c *Child) WasLate() bool { return false }

// Deserted is never closed, for the same reason.
func (c *Child) Deserted() <-chan struct{} { return nil }

// Leave has nothing to wait for.
func (c *Child) Leave() {}
