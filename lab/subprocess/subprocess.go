// Package subprocess runs this program again as another process, because what goes wrong between processes is shown
// with processes.
package subprocess

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

// variable names the kind of a process in its environment.
const variable = "HOLDFAST_LAB_SUBPROCESS"

// A Func is what a process does. It reads one JSON value after another, and writes them. The process ends when nobody
// reads or writes at the other end any more.
type Func func(ctx context.Context, in *json.Decoder, out *json.Encoder) error

// A Kind is a kind of process.
type Kind struct{ name string }

var kinds = make(map[Kind]Func)

// Register adds a kind of process. It is called for variables of packages, so that Main knows all kinds.
func Register(name string, f Func) Kind {
	k := Kind{name}
	kinds[k] = f
	return k
}

// Main does what a process of the kind that the environment names does, and does not return then. Call it first in main
// and in TestMain.
func Main() {
	name := os.Getenv(variable)
	if name == "" {
		return
	}
	f := kinds[Kind{name}]
	if f == nil {
		fmt.Fprintf(os.Stderr, "subprocess: there is no kind %q\n", name)
		os.Exit(2)
	}
	if err := f(context.Background(), json.NewDecoder(orphaned{os.Stdin}), json.NewEncoder(os.Stdout)); err != nil {
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

// A Process is one of a kind. One goroutine may send to it while another receives.
type Process struct {
	cmd  *exec.Cmd
	in   *json.Encoder
	out  *json.Decoder
	stop func() error
}

// Start starts a process. Stop ends it.
func (k Kind) Start() (*Process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), variable+"="+k.name)
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
	return &Process{cmd, json.NewEncoder(in), json.NewDecoder(out),
		sync.OnceValue(func() error { return stop(cmd) })}, nil
}

// Send passes a value to the process.
func (p *Process) Send(v any) error { return p.in.Encode(v) }

// Receive waits for the process's next value.
func (p *Process) Receive(v any) error {
	if err := p.out.Decode(v); err != nil {
		return fmt.Errorf("process %d says nothing more: %w", p.cmd.Process.Pid, err)
	}
	return nil
}

// Pause stops the process, as a long garbage collection or a closed laptop would.
func (p *Process) Pause() error { return p.cmd.Process.Signal(syscall.SIGSTOP) }

// Resume lets it go on.
func (p *Process) Resume() error { return p.cmd.Process.Signal(syscall.SIGCONT) }

// Stop kills the process and waits for its end. It may be called repeatedly, by several goroutines.
func (p *Process) Stop() error { return p.stop() }

func stop(cmd *exec.Cmd) error {
	if err := cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	_ = cmd.Wait() // it was killed
	return nil
}
