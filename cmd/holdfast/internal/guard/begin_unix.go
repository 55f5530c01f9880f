//go:build unix

package guard

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// Begin starts a command in a process group of its own, which the guard knows before the command begins. It returns
// when that has begun. A guard begins one command. The error is an [fs.PathError] where the command cannot be run, and
// [ErrNotBegun], [ErrLate] or [ErrGone] where that is the reason.
func (g *Guard) Begin(path string, args []string, attr *os.ProcAttr) (*os.Process, error) {
	defer g.desk.Close()
	p, err := begun(g.desk, path, args, attr)
	if err == ErrNotBegun && g.WasLate() {
		err = ErrLate
	}
	return p, err
}

// BeginAlone starts a command without a guard, in the same way: it is for commands that IsAddressed is true of.
func BeginAlone(path string, args []string, attr *os.ProcAttr) (*os.Process, error) {
	return begun(nil, path, args, attr)
}

// begun starts a command, and returns when that has begun. It makes itself known at the desk, if there is one.
func begun(desk *os.File, path string, args []string, attr *os.ProcAttr) (*os.Process, error) {
	progress, said, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer progress.Close()
	p, err := startBeginning(desk, said, path, args, attr)
	_ = said.Close() // now what begins has the only other one
	if err != nil {
		return nil, err
	}
	if err := hasBegun(progress, path); err != nil {
		_, _ = p.Wait() // it ends with what it said
		return nil, err
	}
	return p, nil
}

// startBeginning starts what becomes the command. Open files keep their numbers in it: those that the caller's shell
// has opened for the command are not replaced.
func startBeginning(
	desk, said *os.File, path string, args []string, attr *os.ProcAttr,
) (*os.Process, error) {
	program, err := self()
	if err != nil {
		return nil, err
	}
	front := []string{name, beginning}
	for _, f := range []*os.File{desk, said} {
		fd, err := passOn(f)
		if err != nil {
			return nil, err
		}
		front = append(front, strconv.Itoa(fd))
	}
	front = append(front, strconv.Itoa(os.Getpid()), path)
	p, err := os.StartProcess(program, append(front, args...), attr)
	if err != nil {
		// The command is not what was not found.
		return nil, fmt.Errorf("start this program again, to become the command: %v", err)
	}
	return p, nil
}

// noDesk is the number of a desk that is not there.
const noDesk = -1

// passOn lets children have an open file, and returns its number.
func passOn(f *os.File) (number int, err error) {
	if f == nil {
		return noDesk, nil
	}
	conn, err := f.SyscallConn()
	if err != nil {
		return 0, err
	}
	var failed error
	err = conn.Control(func(fd uintptr) {
		number = int(fd)
		_, failed = unix.FcntlInt(fd, unix.F_SETFD, 0)
	})
	return number, errors.Join(err, failed)
}

// A step is how far a command is that begins.
type step uint32

const (
	untold step = iota // it could not make itself known to the guard
	told               // it did
	failed             // it cannot be run
)

// hasBegun waits until a command has begun, or returns why it has not.
func hasBegun(progress io.Reader, path string) error {
	said, err := io.ReadAll(progress)
	if err != nil {
		return err
	}
	if len(said) < stepSize {
		return ErrNotBegun
	}
	last := said[len(said)-stepSize:]
	why := syscall.Errno(binary.BigEndian.Uint32(last[4:]))
	switch step(binary.BigEndian.Uint32(last)) {
	case told:
		return nil
	case failed:
		return &fs.PathError{Op: "exec", Path: path, Err: why}
	default:
		return fmt.Errorf("%w: %v", ErrGone, why) // it is not what was not found
	}
}

// stepSize is how long a step is, with its errno.
const stepSize = 8

func (s step) say(to int, err error) {
	var why syscall.Errno
	_ = errors.As(err, &why) // zero otherwise
	word := binary.BigEndian.AppendUint32(nil, uint32(s))
	_, _ = unix.Write(to, binary.BigEndian.AppendUint32(word, uint32(why))) // who is gone need not know
}

// begin is this program as a command that has not begun: see beginning. It returns, with an exit code, when that fails.
func begin(args []string) int {
	var numbers [3]int
	for i := range numbers {
		n, err := strconv.Atoi(args[2+i])
		if err != nil {
			return usageError
		}
		numbers[i] = n
	}
	desk, said, supervisor := numbers[0], numbers[1], numbers[2]
	if desk != noDesk && !isType(desk, unix.S_IFSOCK) || !isType(said, unix.S_IFIFO) {
		return usageError
	}
	if desk != noDesk {
		unix.CloseOnExec(desk)
	}
	unix.CloseOnExec(said)
	return becomeCommand(desk, said, supervisor, args[5], args[6:])
}

func becomeCommand(desk, said, supervisor int, path string, args []string) int {
	runtime.LockOSThread() // the wish to die is a thread's
	dieWithParent()
	if os.Getppid() != supervisor { // it died before it could be a wish
		return usageError
	}
	if desk != noDesk {
		if err := introduce(desk); err != nil {
			untold.say(said, err)
			return usageError
		}
	}
	told.say(said, nil)
	failed.say(said, syscall.Exec(path, args, readdress(os.Environ(), supervisor, os.Getpid())))
	return usageError
}
