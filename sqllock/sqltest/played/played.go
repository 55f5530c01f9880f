// Package played runs the program of a test again, as other processes that each play a part.
package played

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// variable names the part that a process plays, and its arguments.
const variable = "HOLDFAST_TEST_PART"

// Main plays the part that this process was started for, or runs the tests if it was started for none. It is for
// TestMain. What a part prints is what it has to say, its error included.
func Main(m *testing.M, parts map[string]func(args []string) error) {
	part, args, _ := strings.Cut(os.Getenv(variable), "\n")
	if part == "" {
		os.Exit(m.Run())
	}
	if err := parts[part](strings.Split(args, "\n")); err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// A Process plays a part.
type Process struct {
	*exec.Cmd
	in    io.Closer
	lines *bufio.Scanner
}

// Start starts a process, which is killed with the test.
func Start(t testing.TB, part string, args ...string) *Process {
	t.Helper()
	return StartWith(t, func(*exec.Cmd) {}, part, args...)
}

// StartWith is Start for a process that is not as usual.
func StartWith(t testing.TB, change func(*exec.Cmd), part string, args ...string) *Process {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	change(cmd)
	cmd.Env = append(os.Environ(), variable+"="+part+"\n"+strings.Join(args, "\n"))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill() // which ends one that is stopped, too
		cmd.Wait()
	})
	return &Process{cmd, in, bufio.NewScanner(out)}
}

// Says fails unless the next line that the process prints is what it should be.
func (p *Process) Says(t testing.TB, want string) {
	t.Helper()
	if !p.lines.Scan() || p.lines.Text() != want {
		t.Fatalf("the process says %q, want %q", p.lines.Text(), want)
	}
}

// Cue ends the input of the process, which goes on, or ends, then.
func (p *Process) Cue() { p.in.Close() }

// Signal sends the process a signal.
func (p *Process) Signal(t testing.TB, signal os.Signal) {
	t.Helper()
	if err := p.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
}

// Kill ends the process without warning.
func (p *Process) Kill(t testing.TB) {
	t.Helper()
	p.Signal(t, os.Kill)
}

// Ends waits until the process has ended, as it should, and says nothing more.
func (p *Process) Ends(t testing.TB) {
	t.Helper()
	for p.lines.Scan() {
		t.Errorf("the process says %q", p.lines.Text())
	}
	if err := p.Wait(); err != nil {
		t.Errorf("the process failed: %v", err)
	}
}
