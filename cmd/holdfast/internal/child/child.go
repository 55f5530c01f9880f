// Package child runs one command as a process group that can be ended as a whole.
//
// On Unix the command leads a process group of its own, shares the terminal as a job of a shell would, and is stopped
// together with the group of this process when the user suspends it. On Linux it dies with this process, even of
// SIGKILL, and what descends from it cannot hide: orphans become children of this process, so Kill finds them in
// whatever group they are.
//
// It is for one program: see package guard about the modes in which that starts itself again.
//
// A process starts no other children while a command runs, and one command at a time: the next when nothing of the
// last one lives.
package child

import (
	"errors"
	"fmt"
	"os"
	"time"
)

// A Command says what to run, and what it inherits.
type Command struct {
	Path  string   // the program, as found
	Args  []string // its arguments, with its name first
	Env   []string // no variable twice
	Stdin *os.File // the child reads it directly
	Out   *os.File
	Err   *os.File

	// Mark is one of Env, as NAME=VALUE, that nobody else has. By it what descends from the command is told from other
	// children of this process, if there may be any: those that a shell had before it became this process, or those of
	// others whom the first process of a container adopts.
	Mark string

	Inherit []*os.File // open in the child under the numbers they have here, beside standard input, output and error

	// Until says until when the command may run at first. Then a guard ends it, though this process may not be able to,
	// unless [Child.Until] has said more: see package guard. Where there can be no guard, Start returns [ErrUnguarded].
	// Nil is for no guard.
	Until func() time.Time

	// Resume is asked before a suspended command goes on. Where it answers false the command is killed instead. It is
	// called by one goroutine.
	Resume func() bool
}

// killLimit bounds Kill: a process that sleeps in the kernel may not die at once.
const killLimit = 5 * time.Second

// killPace is the pause between two rounds of Kill, which end what was not a child of this process before.
const killPace = 5 * time.Millisecond

// Done is closed when the command has exited. What it started may live on.
func (c *Child) Done() <-chan struct{} { return c.done }

// Gone is closed when nothing of the command lives.
func (c *Child) Gone() <-chan struct{} { return c.gone }

// HasGone reports whether nothing of the command lives.
func (c *Child) HasGone() bool {
	select {
	case <-c.gone:
		return true
	default:
		return false
	}
}

// Code is the exit code of the command as a shell tells it: its own, or 128 + n when signal n ended it. It is there
// when Done is closed.
func (c *Child) Code() int {
	<-c.done
	return c.code
}

// ErrLives means that something of the command lives on: it runs as another user, as with sudo, or sleeps in the
// kernel.
var ErrLives = errors.New("the command could not be stopped, and is still running")

// ErrUnguarded means that the command was not started, because it would not have had a guard.
var ErrUnguarded = errors.New("nothing would end the command if this process were stopped")

// Kill ends the command with all that descends from it, and returns when nothing of it lives. It gives up after some
// seconds, with [ErrLives], when a process cannot be killed.
func (c *Child) Kill() error {
	limit := time.After(killLimit)
	for {
		err := c.killAll()
		select {
		case <-c.gone:
			return nil
		case <-limit:
			if err != nil {
				return fmt.Errorf("%w: %w", ErrLives, err)
			}
			return ErrLives
		case <-time.After(killPace):
		}
	}
}
