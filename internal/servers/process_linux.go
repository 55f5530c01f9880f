package servers

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

func dieWithUs(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}

// kill ends the process and its children at one stroke, and returns when the children have ended.
func (p *process) kill() error {
	if err := p.pause(); err != nil {
		return err
	}
	children, err := p.children()
	if err != nil {
		return err
	}
	if err := p.cmd.Process.Kill(); err != nil {
		return err
	}
	return each(children, syscall.SIGKILL, "Z")
}

// pause stops the process and its children, and returns when they stand still, which is a moment after the signal.
func (p *process) pause() error {
	// from now on it has no more children
	if err := each([]*os.Process{p.cmd.Process}, syscall.SIGSTOP, "TZ"); err != nil {
		return err
	}
	children, err := p.children()
	if err != nil {
		return err
	}
	return each(children, syscall.SIGSTOP, "TZ")
}

func (p *process) resume() error {
	children, err := p.children()
	if err != nil {
		return err
	}
	return each(append(children, p.cmd.Process), syscall.SIGCONT, "RSDZ")
}

// children are those of a process, which some servers have for each connection.
func (p *process) children() (found []*os.Process, err error) {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil, err
	}
	for _, stat := range stats {
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(stat)))
		if _, parent := look(pid); parent != p.pid {
			continue
		}
		child, err := os.FindProcess(pid)
		if err != nil {
			return nil, err
		}
		found = append(found, child)
	}
	return found, nil
}

// each signals processes, and waits until each is in one of the states or is no more.
func each(processes []*os.Process, signal os.Signal, states string) error {
	for _, one := range processes {
		if err := one.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
			return err
		}
	}
	for _, one := range processes {
		if err := reaches(one.Pid, states); err != nil {
			return fmt.Errorf("after %v: %w", signal, err)
		}
	}
	return nil
}

// reaches waits until a process is in one of the states or is no more.
func reaches(pid int, states string) error {
	for limit := time.Now().Add(stopTime); time.Now().Before(limit); time.Sleep(time.Millisecond) {
		if state, _ := look(pid); state == gone || bytes.IndexByte([]byte(states), state) >= 0 {
			return nil
		}
	}
	return fmt.Errorf("process %d is in none of the states %q in %v", pid, states, stopTime)
}

// gone is the state of a process that is no more.
const gone = 0

// look returns the letter that proc_pid_stat(5) gives a process, and its parent.
func look(pid int) (state byte, parent int) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return gone, 0
	}
	name := bytes.LastIndexByte(stat, ')') // which may contain anything
	if _, err := fmt.Sscanf(string(stat[name+1:]), " %c %d", &state, &parent); err != nil {
		return gone, 0
	}
	return state, parent
}
