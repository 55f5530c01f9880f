//go:build linux

package pgroup

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

const inNamespace = "HOLDFAST_TEST_IN_NAMESPACE"

// A group whose leader and members are gone gets no signal, whoever has its number by now.
func TestNumberOfAnother(t *testing.T) {
	if os.Getenv(inNamespace) != "" {
		signalNumberOfAnother(t)
		return
	}
	cmd := exec.Command("/proc/self/exe", "-test.run=^TestNumberOfAnother$", "-test.v")
	cmd.Env = append(os.Environ(), inNamespace+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID}
	out, err := cmd.CombinedOutput()
	switch {
	case cmd.ProcessState == nil:
		t.Skipf("no namespace can be made here: %v", err)
	case err != nil:
		t.Errorf("%v\n%s", err, out)
	case strings.Contains(string(out), "--- SKIP"):
		t.Skipf("%s", out)
	}
}

func signalNumberOfAnother(t *testing.T) {
	first := leader(t)
	group := Of(first.Process.Pid)
	defer group.Close()
	if _, can := signal(group.leader, 0); !can {
		t.Skip("the kernel cannot: Linux 6.9 can")
	}
	if !group.Lives() {
		t.Fatal("the group does not live")
	}
	if err := group.Signal(unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = first.Wait()

	other := leaderNumbered(t, first.Process.Pid)
	if err := group.Signal(unix.SIGKILL); err != unix.ESRCH || group.Lives() {
		t.Errorf("a signal to it: %v, and it lives: %v; want %v, and false", err, group.Lives(), unix.ESRCH)
	}
	if err := unix.Kill(-other.Process.Pid, unix.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := other.Wait(); other.ProcessState.Sys().(syscall.WaitStatus).Signal() != unix.SIGTERM {
		t.Errorf("the other group ended before it was told to: %v", err)
	}
}

// leader starts a process that leads a group.
func leader(t *testing.T) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("sleep", "300")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: unix.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd
}

// leaderNumbered starts one with a number that is free.
func leaderNumbered(t *testing.T, pid int) *exec.Cmd {
	t.Helper()
	for range 100 { // threads of this process take numbers, too
		if err := os.WriteFile("/proc/sys/kernel/ns_last_pid", []byte(strconv.Itoa(pid-1)), 0); err != nil {
			t.Skipf("numbers cannot be chosen: %v", err)
		}
		if cmd := leader(t); cmd.Process.Pid == pid {
			return cmd
		}
	}
	t.Fatalf("no process got number %d again", pid)
	return nil
}

// A group that was closed gets no signal: its number was given back.
func TestClosed(t *testing.T) {
	cmd := leader(t)
	group := Of(cmd.Process.Pid)
	group.Close()
	group.Close()
	if err := group.Signal(unix.SIGKILL); err != unix.ESRCH || group.Lives() {
		t.Errorf("a signal to it: %v, and it lives: %v; want %v, and false", err, group.Lives(), unix.ESRCH)
	}
}
