//go:build linux

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/holdfast-go/holdfast/internal/locked"
)

// These are programs that scripts use to tell what happened, and to wait until something has happened.

// patience is how long they wait. It is above what a busy machine needs, and below the TTLs that must not have
// mattered.
const patience = 50 * time.Second

// coded runs a command and prints its exit code: coded PIDFILE COMMAND [ARG...]. The command's process ID is in PIDFILE
// before the command begins: whatever it does then, somebody may send it signals.
func coded() {
	const begin = `echo $$ > "$0.new" && mv "$0.new" "$0" && exec "$@"`
	cmd := exec.Command("sh", append([]string{"-c", begin}, os.Args[1:]...)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // a script that fails leaves nothing behind
	runtime.LockOSThread()                                             // see Pdeathsig
	check(cmd.Start())
	_ = cmd.Wait() // the state tells
	status := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if status.Signaled() {
		fmt.Printf("killed=%v\n", status.Signal())
		return
	}
	fmt.Printf("exit=%d\n", status.ExitStatus())
}

// asRoot becomes root, as sudo does, says so, and ends with its input.
func asRoot() {
	check(syscall.Setresuid(0, 0, 0))
	fmt.Println("root")
	_, err := io.Copy(io.Discard, os.Stdin)
	check(err)
}

// await repeats a command until it succeeds: await COMMAND [ARG...].
func await() {
	eventually(strings.Join(os.Args[1:], " "), func() bool {
		return exec.Command(os.Args[1], os.Args[2:]...).Run() == nil
	})
}

// queued waits until a lock has so many holders and waiters: queued NAME HOLDERS WAITERS.
func queued() {
	ctx := context.Background()
	s, err := new(backendFlags).open(ctx)
	check(err)
	want := os.Args[2] + " " + os.Args[3]
	eventually("queue of "+strings.Join(os.Args[1:], " "), func() bool {
		queue, err := s.Queue(ctx, os.Args[1])
		check(err)
		v := viewOf(os.Args[1], queue)
		return fmt.Sprint(len(v.Holders), len(v.Waiters)) == want
	})
}

// dead waits until processes have ended: dead [-now] PIDFILE... With -now they must have ended already.
func dead() {
	files, now := os.Args[1:], false
	if files[0] == "-now" {
		files, now = files[1:], true
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		check(err)
		pid := strings.TrimSpace(string(text))
		if now && isAlive(pid) {
			check(fmt.Errorf("process %s of %s is alive", pid, file))
		}
		eventually("end of "+file, func() bool { return !isAlive(pid) })
	}
}

// freeze stops a process until it gets SIGCONT: freeze PIDFILE. It does not do so in the middle of a write to locks in
// a file: that would hold up everybody, as docs/file.md says.
func freeze() {
	text, err := os.ReadFile(os.Args[1])
	check(err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	check(err)
	store, _ := strings.CutPrefix(os.Getenv("HOLDFAST_BACKEND"), "file:")
	eventually("moment without a write of "+os.Args[1], func() bool {
		check(syscall.Kill(pid, syscall.SIGSTOP))
		eventually("stop of "+os.Args[1], func() bool { return isStopped(pid) })
		if !locked.By(func(holder int) bool { return holder == pid }, store+".clients", store+"-shm") {
			return true
		}
		check(syscall.Kill(pid, syscall.SIGCONT))
		return false
	})
}

// isStopped reports whether no thread of a process runs any more.
func isStopped(pid int) bool {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	check(err)
	return len(threads) > 0 && !slices.ContainsFunc(threads, func(stat string) bool { return state(stat) != 'T' })
}

// state is what a process or a thread does, by its stat in /proc: X if it is gone.
func state(stat string) byte {
	text, err := os.ReadFile(stat)
	if err != nil {
		return 'X'
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	return rest[0]
}

// isAlive reports whether a process runs. One that nobody has waited for is dead.
func isAlive(pid string) bool {
	s := state("/proc/" + pid + "/stat")
	return s != 'Z' && s != 'X'
}

// eventually asks again and again, less often as time goes by: to ask may start a program.
func eventually(what string, holds func() bool) {
	pause := 10 * time.Millisecond
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(pause) {
		if time.Now().After(deadline) {
			check(fmt.Errorf("not in %v: %s", patience, what))
		}
		pause = min(pause*3/2, 100*time.Millisecond)
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
