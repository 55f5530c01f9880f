//go:build unix

package guard

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A Guard is a guard that was started. It is a child of this process, to be waited for like any other. Its methods are
// safe for concurrent use, but for Until, which one goroutine calls.
type Guard struct {
	process *os.Process
	words   *os.File // our end of the pipe on which it is told
	told    time.Duration

	mu        sync.Mutex
	forgotten bool // it was waited for, and another process may have its ID
}

// Start starts a guard for a command that is started next, and for what descends from that: see package descend for the
// mark of it. So there is no time in which nobody guards the command, but for the moment until [Guard.Of] tells which it is.
// until is what the guard knows before [Guard.Until] says more. It keeps the files open for as long as something of
// the command lives, though this process may be gone.
func Start(mark string, until func() time.Time, keep []*os.File) (*Guard, error) {
	program, err := self()
	if err != nil {
		return nil, err
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	listen, words, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer listen.Close()
	g := &Guard{words: words}
	if err := g.tell(until); err != nil {
		return nil, errors.Join(fmt.Errorf("tell a guard: %w", err), words.Close())
	}
	args := []string{"holdfast", Mode, strconv.Itoa(os.Getpid()), mark}
	p, err := os.StartProcess(program, args, &os.ProcAttr{
		Dir:   "/",
		Env:   []string{"GOMAXPROCS=1", "GOTRACEBACK=none"},
		Files: append([]*os.File{null, null, null, listen}, keep...),
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start a guard: %w", err), words.Close())
	}
	g.process = p
	return g, nil
}

// ID is the guard's process ID, zero for none.
func (g *Guard) ID() int {
	if g == nil {
		return 0
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.forgotten {
		return 0
	}
	return g.process.Pid
}

// Of tells the guard the process group of the command.
func (g *Guard) Of(group int) {
	if g != nil && g.write(word(-int64(group))) != nil {
		g.Dismiss()
	}
}

// Until tells the guard until when the command may run. when is asked after the clock was read, so that a pause between
// the two makes the guard early, and never late.
func (g *Guard) Until(when func() time.Time) {
	if g != nil && g.tell(when) != nil {
		g.Dismiss() // it is gone, or was deaf for long; what it knows is stale
	}
}

func (g *Guard) tell(when func() time.Time) error {
	at := clock()
	at = max(at+time.Until(when()), time.Millisecond) // what ended before the clock began is over, too
	if (at - g.told).Abs() < time.Millisecond {
		return nil
	}
	g.told = at
	return g.write(word(int64(at)))
}

// word is what a guard is told: a deadline or, less than zero, a process group.
func word(v int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(v)) }

// write does not wait for one who does not listen.
func (g *Guard) write(word []byte) error {
	conn, err := g.words.SyscallConn()
	if err != nil {
		return err
	}
	var wrote error
	err = conn.Write(func(fd uintptr) (done bool) {
		_, wrote = unix.Write(int(fd), word) // short, so in one piece or not at all
		return true
	})
	return errors.Join(err, wrote)
}

// Dismiss ends the guard, and nothing else.
func (g *Guard) Dismiss() {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.forgotten {
		_ = g.process.Kill() // it may be gone by now
	}
	_ = g.words.Close() // likewise
}

// Forget is called when the guard was waited for: another process may get its ID.
func (g *Guard) Forget() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.forgotten = true
	_ = g.process.Release() // it was waited for by its ID
}
