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
// safe for concurrent use, but for Until and WasLate, which one goroutine calls.
type Guard struct {
	process *os.Process
	words   *os.File      // our end of the pipe on which it is told
	desk    *os.File      // where the command introduces itself to it
	told    time.Duration // the deadline that it was told last, by clock
	late    time.Duration // when it was told one, the one before being over; zero: never

	mu        sync.Mutex
	forgotten bool // it was waited for, and another process may have its ID
}

// Start starts a guard for a command that [Guard.Begin] begins, and for what descends from that: see package descend
// for the mark of it. until is what the guard knows before [Guard.Until] says more. It keeps the files open for as
// long as something of the command lives, though this process may be gone.
func Start(mark string, until func() time.Time, keep []*os.File) (*Guard, error) {
	g, ends, err := newGuard()
	defer closeAll(ends)
	if err != nil {
		return nil, err
	}
	if err := g.tell(until); err != nil {
		return nil, errors.Join(fmt.Errorf("tell a guard: %w", err), g.close())
	}
	if err := g.start(mark, append(ends, keep...)); err != nil {
		return nil, errors.Join(fmt.Errorf("start a guard: %w", err), g.close())
	}
	return g, nil
}

// newGuard returns a guard that has not been started, and its ends of what connects us.
func newGuard() (g *Guard, ends []*os.File, err error) {
	listen, words, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		return nil, []*os.File{listen, words}, err
	}
	for _, fd := range pair {
		unix.CloseOnExec(fd)
	}
	g = &Guard{words: words, desk: os.NewFile(uintptr(pair[1]), "desk")}
	return g, []*os.File{listen, os.NewFile(uintptr(pair[0]), "desk")}, nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close() // nothing was written
	}
}

// start starts the guard, with files that it has from number words on.
func (g *Guard) start(mark string, files []*os.File) error {
	program, err := self()
	if err != nil {
		return err
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	g.process, err = os.StartProcess(program, []string{name, mode, strconv.Itoa(os.Getpid()), mark}, &os.ProcAttr{
		Dir:   "/",
		Env:   []string{"GOMAXPROCS=1", "GOTRACEBACK=none"},
		Files: append([]*os.File{null, null, null}, files...),
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
	return err
}

func (g *Guard) close() error { return errors.Join(g.words.Close(), g.desk.Close()) }

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

// Until tells the guard until when the command may run. when is asked after the clock was read, so that a pause between
// the two makes the guard early, and never late.
func (g *Guard) Until(when func() time.Time) {
	if g != nil && g.tell(when) != nil {
		g.Dismiss() // it is gone, or was deaf for long; what it knows is stale
	}
}

func (g *Guard) tell(when func() time.Time) error {
	before := clock()
	if g.told > 0 && before >= g.told {
		g.late = before
	}
	at := max(before+time.Until(when()), time.Millisecond) // what ended before the clock began is over, too
	if (at - g.told).Abs() < time.Millisecond {
		return nil
	}
	g.told = at
	return g.write(word(int64(at)))
}

// WasLate reports whether the guard may have ended the command just now, because it was told too late that there is
// more time, or has not been told yet.
func (g *Guard) WasLate() bool {
	if g == nil {
		return false
	}
	now := clock()
	return now >= g.told || g.late > 0 && now-g.late < killLimit
}

// word is what is told: a deadline or, at the desk, a process group.
func word(v int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(v)) }

func unword(word []byte) int64 { return int64(binary.BigEndian.Uint64(word)) }

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
	_ = g.close() // likewise
}

// Forget is called when the guard was waited for: another process may get its ID.
func (g *Guard) Forget() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.forgotten = true
	_ = g.process.Release() // it was waited for by its ID
}
