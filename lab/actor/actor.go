// Package actor runs this program once more as another process that plays a role: what goes wrong between processes is
// shown with processes.
package actor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
)

// variable names the role in the environment of a process that plays one.
const variable = "HOLDFAST_LAB_ROLE"

// A Role is what such a process does. It reads one JSON value after another, and writes them. When nobody reads or writes
// at the other end any more, it ends.
type Role func(ctx context.Context, in *json.Decoder, out *json.Encoder) error

var roles = make(map[string]Role)

// Register adds a role, in an init function.
func Register(name string, role Role) { roles[name] = role }

// Main plays the role that the environment names, and does not return then. It is called first in main and in TestMain.
func Main() {
	name := os.Getenv(variable)
	if name == "" {
		return
	}
	role := roles[name]
	if role == nil {
		fmt.Fprintf(os.Stderr, "actor: nobody knows the role %q\n", name)
		os.Exit(2)
	}
	if err := role(context.Background(), json.NewDecoder(orphaned{os.Stdin}), json.NewEncoder(os.Stdout)); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// orphaned ends this process when whoever started it is gone.
type orphaned struct{ in io.Reader }

func (o orphaned) Read(p []byte) (int, error) {
	n, err := o.in.Read(p)
	if err != nil {
		os.Exit(1)
	}
	return n, err
}

// A Process plays a role. One goroutine may send while another receives.
type Process struct {
	cmd  *exec.Cmd
	in   *json.Encoder
	out  *json.Decoder
	stop func() error
}

// Start starts a process. Stop ends it.
func Start(role string) (*Process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), variable+"="+role)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &Process{cmd, json.NewEncoder(in), json.NewDecoder(out), sync.OnceValue(func() error { return stop(cmd) })}, nil
}

// Send passes a value to the role.
func (p *Process) Send(v any) error { return p.in.Encode(v) }

// Receive waits for the role's next value.
func (p *Process) Receive(v any) error {
	if err := p.out.Decode(v); err != nil {
		return fmt.Errorf("process %d says nothing more: %w", p.cmd.Process.Pid, err)
	}
	return nil
}

// Pause stops the process where it stands, as a long garbage collection or a laptop's lid would.
func (p *Process) Pause() error { return p.cmd.Process.Signal(syscall.SIGSTOP) }

// Resume lets it go on.
func (p *Process) Resume() error { return p.cmd.Process.Signal(syscall.SIGCONT) }

// Stop kills the process and waits for its end. It may be repeated, by anybody.
func (p *Process) Stop() error { return p.stop() }

func stop(cmd *exec.Cmd) error {
	if err := cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	_ = cmd.Wait() // it was killed
	return nil
}
