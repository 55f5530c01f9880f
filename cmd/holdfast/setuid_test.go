//go:build linux

package main

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A command that becomes root, as sudo does, cannot be stopped by who started it. That is told, on standard error and
// in the exit code; the lock is kept while it is ours, and the job is not over before the command is.
func TestCommandOfAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can make a program that becomes root")
	}
	const nobody = 65534
	folder, err := os.MkdirTemp("", "holdfast") // that of the test is in one that others cannot enter
	ok(t, err)
	t.Cleanup(func() { os.RemoveAll(folder) })
	ok(t, os.Chown(folder, nobody, nobody))
	holdfast, asRoot := program(t, folder, "holdfast", 0o755), program(t, folder, "asroot", 0o755|os.ModeSetuid)
	t.Setenv("HOLDFAST_BACKEND", "file:"+filepath.Join(folder, "locks.db"))

	cmd := exec.Command(holdfast, "run", "--grace", "100ms", "hello", "--", asRoot)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	in, out, said := pipes(t, cmd)
	ok(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	tells(t, out, "root")

	ok(t, cmd.Process.Signal(syscall.SIGTERM))
	tells(t, said, "cannot be sent signals")
	if queue, err := exec.Command(holdfast, "show", "hello").Output(); err != nil ||
		!strings.Contains(string(queue), "asroot") {
		t.Errorf("show: %s, %v; want the lock to be kept", queue, err)
	}
	ok(t, exec.Command(holdfast, "break", "hello").Run())
	tells(t, said, `lock "hello" lost`)
	tells(t, said, "could not be stopped, and is still running")
	ok(t, in.Close())
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != exitUnstopped {
		t.Errorf("it ended with %v; want %d", err, exitUnstopped)
	}
}

// program makes a copy of the test binary, which is all programs of scripts.
func program(t *testing.T, folder, name string, mode os.FileMode) (path string) {
	t.Helper()
	text, err := os.ReadFile("/proc/self/exe")
	ok(t, err)
	path = filepath.Join(folder, name)
	ok(t, os.WriteFile(path, text, 0o755))
	ok(t, os.Chmod(path, mode))
	return path
}

// pipes are the standard input of a command, and what it prints and says.
func pipes(t *testing.T, cmd *exec.Cmd) (in io.WriteCloser, out, said *bufio.Scanner) {
	t.Helper()
	in, err := cmd.StdinPipe()
	ok(t, err)
	stdout, err := cmd.StdoutPipe()
	ok(t, err)
	stderr, err := cmd.StderrPipe()
	ok(t, err)
	return in, bufio.NewScanner(stdout), bufio.NewScanner(stderr)
}

// tells fails unless a line comes that has the text.
func tells(t *testing.T, lines *bufio.Scanner, text string) {
	t.Helper()
	for lines.Scan() {
		if strings.Contains(lines.Text(), text) {
			return
		}
	}
	t.Fatalf("it ends without %q", text)
}
