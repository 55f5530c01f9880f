package servers

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
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

// children are those of a process that stands still, which some servers have for each connection.
func (p *process) children() (found []*os.Process, err error) {
	if _, err := os.Stat("/proc/thread-self/children"); err != nil {
		return nil, fmt.Errorf("the kernel does not tell children: %w", err) // CONFIG_PROC_CHILDREN
	}
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", p.pid))
	if err != nil {
		return nil, err
	}
	for _, list := range lists {
		text, _ := os.ReadFile(list) // of a thread that has ended, or a process that is gone
		for pid := range strings.FieldsSeq(string(text)) {
			id, err := strconv.Atoi(pid)
			if err != nil {
				return nil, err
			}
			child, err := os.FindProcess(id)
			if err != nil {
				return nil, err
			}
			found = append(found, child)
		}
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
		if state := look(pid); state == gone || bytes.IndexByte([]byte(states), state) >= 0 {
			return nil
		}
	}
	return fmt.Errorf("process %d is in none of the states %q in %v", pid, states, stopTime)
}

// gone is the state of a process that is no more.
const gone = 0

// look returns the letter that proc_pid_stat(5) gives a process.
func look(pid int) (state byte) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return gone
	}
	name := bytes.LastIndexByte(stat, ')') // which may contain anything
	if _, err := fmt.Sscanf(string(stat[name+1:]), " %c", &state); err != nil {
		return gone
	}
	return state
}
