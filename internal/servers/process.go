package servers

import (
	"os"
	"os/exec"
	"runtime"
)

// A process is a child that dies with us. It is signalled through [os.Process], which refuses once the child was waited
// for, so that a process which has got its number since is never hit.
type process struct {
	pid   int
	cmd   *exec.Cmd
	ended chan struct{} // closed when it has ended and was waited for
}

// launch starts a program in a folder and appends what it says to a file. Where the system can, the child is killed
// when the thread that started it ends, so that thread is kept for as long as the child lives.
func launch(program string, args []string, dir, log string) (*process, error) {
	out, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer out.Close() // the child has its own
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, out, out
	dieWithUs(cmd)
	p := &process{cmd: cmd, ended: make(chan struct{})}
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

func (p *process) kill() error { return p.cmd.Process.Kill() }
