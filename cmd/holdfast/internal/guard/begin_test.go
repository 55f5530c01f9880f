//go:build linux

package guard

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// desks are both ends of what a command introduces itself on: that of a guard, and that of the command.
func desks(t *testing.T) (guards, commands *os.File) {
	t.Helper()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	guards, commands = os.NewFile(uintptr(pair[0]), "guard's"), os.NewFile(uintptr(pair[1]), "command's")
	t.Cleanup(func() { guards.Close(); commands.Close() })
	return guards, commands
}

// attrOf is how the tests start what leads a group, and prints to out.
func attrOf(out *os.File) *os.ProcAttr {
	return &os.ProcAttr{Files: []*os.File{nil, out, os.Stderr}, Sys: &syscall.SysProcAttr{Setpgid: true}}
}

// As soon as a command runs its guard knows the group, and holds it, though nobody says more.
func TestCommandIntroducesItself(t *testing.T) {
	guards, commands := desks(t)
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	args := []string{"a shell", "-c", `echo "$0 $$"; read never`, "says"}
	p, err := (&Guard{desk: commands}).Begin("/bin/sh", args, attrOf(in))
	_ = in.Close()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = p.Kill(); _, _ = p.Wait() }()
	w := new(watch)
	w.meetAt(int(guards.Fd()))
	if w.group == nil || w.group.ID() != p.Pid || w.never {
		t.Fatalf("the guard knows %+v; want group %d", w, p.Pid)
	}
	said := make([]byte, 100)
	n, _ := out.Read(said)
	if want := "says " + strconv.Itoa(p.Pid); strings.TrimSpace(string(said[:n])) != want {
		t.Errorf("the command says %q; want %q", said[:n], want)
	}
	if _, err := p.Wait(); err != nil { // standard input is closed
		t.Error(err)
	}
	if w.group.Lives() {
		t.Error("the group lives after its end")
	}
}

// What the guard or the supervisor would know nothing of does not begin.
func TestNotBegunUnknown(t *testing.T) {
	t.Run("to the guard", func(t *testing.T) {
		guards, commands := desks(t)
		_ = guards.Close()
		_, err := (&Guard{desk: commands}).Begin("/bin/touch", touch(t), attrOf(nil))
		if !errors.Is(err, ErrGone) {
			t.Errorf("it begins with %v; want %v", err, ErrGone)
		}
	})
	t.Run("to the supervisor", func(t *testing.T) {
		_, commands := desks(t)
		progress, said, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer progress.Close()
		defer said.Close()
		args := append([]string{"touch", beginning, "3", "4", "1", "/bin/touch"}, touch(t)...)
		files := []*os.File{nil, nil, os.Stderr, commands, said}
		p, err := os.StartProcess("/proc/self/exe", args, &os.ProcAttr{Files: files})
		if err != nil {
			t.Fatal(err)
		}
		if state, err := p.Wait(); err != nil || state.Success() {
			t.Errorf("a command began that is not its supervisor's: %v, %v", state, err)
		}
	})
}

// A command whose time is over before it begins is ended, whether it has begun by then or not.
func TestOverBeforeItBegins(t *testing.T) {
	g, err := Start("", func() time.Time { return time.Now().Add(time.Nanosecond) }, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { g.Dismiss(); _, _ = g.process.Wait() }()
	p, err := g.Begin("/bin/sleep", []string{"sleep", "300"}, attrOf(nil))
	if errors.Is(err, ErrLate) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if state, err := p.Wait(); err != nil || state.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Errorf("it ended with %v, %v; want it to be killed", state, err)
	}
}

// touch are the arguments of a command that leaves a trace, which the test looks for at its end.
func touch(t *testing.T) []string {
	trace := filepath.Join(t.TempDir(), "trace")
	t.Cleanup(func() {
		if _, err := os.Stat(trace); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the command began: %v", err)
		}
	})
	return []string{"touch", trace}
}

// What cannot be run is told as if it had been started directly.
func TestCannotBegin(t *testing.T) {
	broken := filepath.Join(t.TempDir(), "broken")
	if err := os.WriteFile(broken, []byte("\x00"), 0o700); err != nil {
		t.Fatal(err)
	}
	reasons := map[string]syscall.Errno{"/not/there": syscall.ENOENT, "/": syscall.EACCES, broken: syscall.ENOEXEC}
	for path, want := range reasons {
		guards, commands := desks(t)
		_, err := (&Guard{desk: commands}).Begin(path, []string{path}, attrOf(nil))
		if start, ok := errors.AsType[*fs.PathError](err); !ok || start.Err != want || start.Path != path {
			t.Errorf("%s: %v; want %v", path, err, want)
		}
		_ = guards.Close()
	}
}

// A desk at which nobody introduces itself any more has nobody to guard.
func TestNobodyComes(t *testing.T) {
	guards, commands := desks(t)
	w := new(watch)
	if w.meetAt(int(guards.Fd())); w.group != nil || w.never {
		t.Errorf("before anybody came: %+v", w)
	}
	_ = commands.Close()
	if w.meetAt(int(guards.Fd())); w.group != nil || !w.never {
		t.Errorf("when nobody comes: %+v", w)
	}
}
