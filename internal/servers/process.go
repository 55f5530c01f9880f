package servers

import (
	"os"
	"os/exec"
	"runtime"
)

// A job is what to run, and how.
type job struct {
	program string
	args    []string
	dir     string    // where it runs
	log     string    // the file that what it says is appended to
	user    string    // whom it runs as; empty for our own account
	stop    os.Signal // what asks it to end; nil for the usual
}

// A process is a child that dies with us. It is signalled through [os.Process], which refuses once the child was waited
// for, so that a process which has got its number since is never hit.
type process struct {
	pid   int
	cmd   *exec.Cmd
	stop  os.Signal
	ended chan struct{} // closed when it has ended and was waited for
}

// launch starts a job. Where the system can, the child is killed when the thread that started it ends, so that thread
// is kept for as long as the child lives.
func launch(j job) (*process, error) {
	out, err := os.OpenFile(j.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer out.Close() // the child has its own
	cmd := exec.Command(j.program, j.args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = j.dir, out, out
	dieWithUs(cmd)
	if err := runAs(cmd, j.user); err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, stop: j.stop, ended: make(chan struct{})}
	started := make(chan error, 1)
	go func() { // ends with the child
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // how a server ends tells nothing
			close(p.ended)
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	p.pid = cmd.Process.Pid
	return p, nil
}

// succeeded tells whether a process that has ended did what it was asked to.
func (p *process) succeeded() bool { return p.cmd.ProcessState.Success() }
