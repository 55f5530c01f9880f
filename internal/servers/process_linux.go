package servers

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

func dieWithUs(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}

// pause stops the process and returns when it stands still, which is a moment after the signal.
func (p *process) pause() error {
	if err := p.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	for limit := time.Now().Add(stopTime); time.Now().Before(limit); time.Sleep(time.Millisecond) {
		state, err := p.state()
		if err != nil || state == 'T' {
			return err
		}
	}
	return fmt.Errorf("it still runs %v after SIGSTOP", stopTime)
}

// state is the letter that proc_pid_stat(5) gives a process.
func (p *process) state() (byte, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.pid))
	if err != nil {
		return 0, err
	}
	name := bytes.LastIndexByte(stat, ')') // which may contain anything
	return stat[name+len(") ")], nil
}
