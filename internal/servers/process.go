package servers

import (
	"io"
	"os/exec"
	"runtime"
)

// A process is a child that dies with us.
type process struct {
	pid   int
	cmd   *exec.Cmd
	ended chan struct{} // closed when it has ended and was waited for, so that its pid is not another's before
}

// launch starts a program. Where the system can, the child is killed when the thread that started it ends, so that
// thread is kept for as long as the child lives.
func launch(program string, args []string, dir string, log io.Writer) (*process, error) {
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, log, log
	dieWithUs(cmd)
	p := &process{cmd: cmd, ended: make(chan struct{})}
	started := make(chan error, 1)
	go func() { // ends with the child
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			cmd.Wait()
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
