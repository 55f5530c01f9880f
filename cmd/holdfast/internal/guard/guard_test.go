//go:build linux

package guard

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// The test binary is also the guard, and a supervisor that has one.
func TestMain(m *testing.M) {
	if os.Getenv(partVariable) != "" {
		supervise()
		return
	}
	os.Exit(m.Run())
}

const partVariable = "HOLDFAST_TEST_GUARDED_FOR"

// supervise guards a new group for a time, prints the IDs of both, and waits for the end of its input.
func supervise() {
	left, err := time.ParseDuration(os.Getenv(partVariable))
	check(err)
	g, err := Start("", func() time.Time { return time.Now().Add(time.Hour) }, nil)
	check(err)
	command, err := g.Begin("/bin/sleep", []string{"sleep", "300"},
		&os.ProcAttr{Sys: &syscall.SysProcAttr{Setpgid: true}})
	check(err)
	g.Until(func() time.Time { return time.Now().Add(left) })
	fmt.Println(command.Pid, g.ID()) // and it is told no more, as by one that is stopped right now
	_, _ = io.Copy(io.Discard, os.Stdin)
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// A supervisor is another process with a command and a guard.
type supervisor struct {
	cmd            *exec.Cmd
	command, guard int
}

// newSupervisor starts one. What it leaves becomes a child of this process, as in a container, and is killed with the
// test.
func newSupervisor(t *testing.T, left time.Duration) *supervisor {
	t.Helper()
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	s := &supervisor{cmd: exec.Command("/proc/self/exe")}
	s.cmd.Env = append(os.Environ(), partVariable+"="+left.String())
	s.cmd.Stderr = os.Stderr
	_, err := s.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.cmd.Process.Kill(); _ = s.cmd.Wait() })
	if _, err := fmt.Fscan(out, &s.command, &s.guard); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, pid := range []int{s.command, s.guard} {
			if lives(pid) {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
	})
	return s
}

// lives reports whether a process runs. One that nobody has waited for is dead.
func lives(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return rest[0] != 'Z' && rest[0] != 'X'
}

// awaitEnd fails when a process does not end.
func awaitEnd(t *testing.T, what string, pid int) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); lives(pid); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s lives on", what)
		}
	}
}

// However its supervisor ended, and whoever adopts the guard, nobody else's processes are touched.
func TestNobodyElseIsKilled(t *testing.T) {
	for name, left := range map[string]time.Duration{
		"before the time is over": time.Second, "at once": time.Nanosecond,
	} {
		t.Run(name, func(t *testing.T) {
			bystander := exec.Command("sleep", "300")
			if err := bystander.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = bystander.Process.Kill(); _ = bystander.Wait() }()
			s := newSupervisor(t, left)
			_ = s.cmd.Process.Kill()
			_ = s.cmd.Wait()
			awaitEnd(t, "the command", s.command)
			awaitEnd(t, "the guard", s.guard)
			if !lives(bystander.Process.Pid) {
				t.Error("a child of who adopted the guard was killed")
			}
		})
	}
}

// A guard does not take what ends the job for its own end: service managers send TERM to all processes.
func TestGuardOutlivesSignals(t *testing.T) {
	s := newSupervisor(t, time.Hour)
	ignores := func() bool { // once it has started
		status, err := os.ReadFile("/proc/" + strconv.Itoa(s.guard) + "/status")
		_, mask, _ := strings.Cut(string(status), "SigIgn:\t")
		bits, _ := strconv.ParseUint(strings.Fields(mask + " 0")[0], 16, 64)
		return err == nil && bits&(1<<(syscall.SIGTERM-1)) != 0
	}
	for deadline := time.Now().Add(time.Minute); !ignores(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it heeds TERM")
		}
	}
	if err := syscall.Kill(s.guard, syscall.SIGTERM); err != nil || !lives(s.guard) || !lives(s.command) {
		t.Errorf("the guard lives: %v, and the command: %v; %v", lives(s.guard), lives(s.command), err)
	}
}

// tellingPipe is a pipe by which a watch is told, and its other end. Who reads it does not wait.
func tellingPipe(t *testing.T) (pipe int, said *os.File) {
	t.Helper()
	listen, said, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		said.Close()
		listen.Close()
	})
	pipe = int(listen.Fd())
	if err := unix.SetNonblock(pipe, true); err != nil {
		t.Fatal(err)
	}
	return pipe, said
}

// Nothing but the time it was last told ends the command.
func TestLastWordHolds(t *testing.T) {
	w := &watch{}
	pipe, said := tellingPipe(t)
	g := &Guard{words: said}
	for i := range 3000 {
		g.Until(func() time.Time { return time.Now().Add(time.Duration(i) * time.Minute) })
	}
	before := clock()
	w.listenTo(pipe)
	if left := w.deadline - before; w.alone || left < 2990*time.Minute {
		t.Errorf("%v are left, alone: %v; want what was said last, however much was said before", left, w.alone)
	}
}

// A time that was over before the clock started is over, and not one that was never told.
func TestLongOver(t *testing.T) {
	pipe, said := tellingPipe(t)
	(&Guard{words: said}).Until(func() time.Time { return time.Time{} })
	w := &watch{}
	if w.listenTo(pipe); w.deadline <= 0 || w.deadline > clock() {
		t.Errorf("the deadline is %v of %v; want one that has passed", w.deadline, clock())
	}
}
