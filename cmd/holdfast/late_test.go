//go:build linux

package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/holdfast-go/holdfast/internal/pace"
	"github.com/holdfast-go/holdfast/internal/proxy"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// A command that cannot write its standard error waits there with its lock. That is how these tests hold one between
// the grant and what comes next.

// Who was stopped until another had the lock does not begin its command.
func TestLostBeforeTheCommand(t *testing.T) {
	server := servers.Redis(t)
	for _, flag := range []string{"--on-lost=term", "--on-lost=ignore", "--no-guard"} {
		t.Run(flag, func(t *testing.T) {
			t.Parallel()
			locks, began := placeOn(server.Addr, flag), filepath.Join(t.TempDir(), "began")
			cmd, goOn := locks.heldBack(t, "run", "--json", "--ttl", "2s", flag, "hello", "--", "touch", began)
			locks.stopUntilFree(t, cmd)
			said := goOn()
			if code := cmd.ProcessState.ExitCode(); code != exitLost {
				t.Errorf("it ended with %d and said %s; want %d", code, said, exitLost)
			}
			if _, err := os.Stat(began); err == nil {
				t.Error("the command began without the lock")
			}
		})
	}
}

// A candidate campaigns again then.
func TestLostBeforeTheCommandOfALeader(t *testing.T) {
	t.Parallel()
	locks, terms := placeOn(servers.Redis(t).Addr, ""), filepath.Join(t.TempDir(), "terms")
	cmd, goOn := locks.heldBack(t, "elect", "--json", "--ttl", "2s", "--no-guard", "hello", "--",
		"sh", "-c", "echo term >> $0", terms)
	locks.stopUntilFree(t, cmd)
	said := goOn()
	told, err := os.ReadFile(terms)
	ok(t, err)
	if code := cmd.ProcessState.ExitCode(); code != 0 || string(told) != "term\n" {
		t.Errorf("it ended with %d, ran %q and said %s; want 0, and one term", code, told, said)
	}
}

// A signal ends acquire also where the backend has stopped answering after the grant.
func TestSignalWhileAHandleIsMade(t *testing.T) {
	server := servers.Redis(t)
	way := proxy.New(t, server.Addr)
	locks := place{its: "redis://" + way.Addr, ours: "redis://" + server.Addr}
	cmd, goOn := locks.heldBack(t, "acquire", "--json", "--ttl", "1h", "hello")
	way.BlackHole()
	ok(t, cmd.Process.Signal(syscall.SIGTERM))
	defer time.AfterFunc(patience, func() { _ = cmd.Process.Kill() }).Stop()
	said := goOn()
	if code := cmd.ProcessState.ExitCode(); code != exitSignal+int(syscall.SIGTERM) {
		t.Errorf("it ended with %d and said %s; want %d", code, said, exitSignal+int(syscall.SIGTERM))
	}
}

// Who cannot tell that the guard has ended looks after the command all the same.
func TestNobodyReadsOfTheGuard(t *testing.T) {
	server := servers.Redis(t)
	locks := placeOn(server.Addr, "")
	cmd, goOn := locks.heldBack(t, "run", "hello", "--", "sleep", "300")
	command, guard := childOf(t, cmd, "sleep"), childOf(t, cmd, "holdfast", "--guard")
	ok(t, syscall.Kill(guard, syscall.SIGKILL))
	eventually("end of the guard", func() bool { return state(fmt.Sprintf("/proc/%d/stat", guard)) == 'X' })
	s, err := (&backendFlags{url: locks.ours}).open(t.Context())
	ok(t, err)
	defer s.abandon(t.Context())
	queue, err := s.Queue(t.Context(), "hello")
	ok(t, err)
	_, err = s.breakAll(t.Context(), "hello", viewOf("hello", queue).Holders)
	ok(t, err)
	eventually("end of the command", func() bool { return !isAlive(strconv.Itoa(command)) })
	if said := goOn(); cmd.ProcessState.ExitCode() != exitLost || !strings.Contains(said, "the guard has ended") {
		t.Errorf("it ended with %d and said %s; want %d", cmd.ProcessState.ExitCode(), said, exitLost)
	}
}

// A candidate that lost the lead campaigns again though it cannot tell of that, nor of an outage.
func TestNobodyReadsOfALostLead(t *testing.T) {
	t.Parallel()
	server := servers.Redis(t)
	way, terms := proxy.New(t, server.Addr), filepath.Join(t.TempDir(), "terms")
	locks := place{its: "redis://" + way.Addr, ours: "redis://" + server.Addr}
	cmd, goOn := locks.heldBack(t, "elect", "--ttl", "8s", "hello", "--",
		"sh", "-c", "echo term >> $0; exec sleep 300", terms)
	lasts := func(want string) func() bool {
		return func() bool {
			told, _ := os.ReadFile(terms) // it may not be there yet
			return string(told) == want
		}
	}
	eventually("first term", lasts("term\n"))
	s, err := (&backendFlags{url: locks.ours}).open(t.Context())
	ok(t, err)
	defer s.abandon(t.Context())
	breakHolder(t, s, "hello")
	eventually("second term", lasts("term\nterm\n"))
	way.BlackHole()
	eventually("end of the lease", func() bool { return locks.holders(t) == 0 })
	time.AfterFunc(2*startLimit, way.Heal)
	eventually("third term", lasts("term\nterm\nterm\n"))
	ok(t, cmd.Process.Signal(syscall.SIGTERM))
	said := goOn()
	if code := cmd.ProcessState.ExitCode(); code != exitSignal+int(syscall.SIGTERM) || !strings.Contains(said, "lost") {
		t.Errorf("it ended with %d and said %s", code, said)
	}
}

// With --trace locks are renewed also where nobody reads what is told.
func TestNobodyReadsTheTrace(t *testing.T) {
	t.Parallel()
	server := servers.Redis(t)
	pace.Run(t, "held", func(t *pace.T) { heldThoughNobodyReads(t, placeOn(server.Addr, t.Name())) })
}

func heldThoughNobodyReads(t *pace.T, locks place) {
	ttl := t.TTL(6 * time.Second)
	reader, writer, err := os.Pipe()
	ok(t.T, err)
	defer reader.Close()
	cmd := locks.command("run", "--trace", "--ttl", ttl.String(), "hello", "--", "sh", "-c", "exec cat /dev/zero >&2")
	cmd.Stderr = writer
	ok(t.T, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	ok(t.T, writer.Close())
	eventually("full pipe", func() bool { return isFull(t.T, reader) })
	for full := time.Now(); time.Since(full) < 2*ttl; time.Sleep(ttl / 10) {
		if locks.holders(t.T) != 1 {
			t.Fatalf("the lock was lost after %v", time.Since(full))
		}
	}
	ok(t.T, cmd.Process.Signal(syscall.SIGTERM))
	said, err := io.ReadAll(reader)
	ok(t.T, err)
	_ = cmd.Wait() // the state tells
	if code := cmd.ProcessState.ExitCode(); code != exitSignal+int(syscall.SIGTERM) {
		t.Errorf("it ended with %d, want %d", code, exitSignal+int(syscall.SIGTERM))
	}
	if !strings.Contains(string(said), "holdfast: renew hello ") {
		t.Errorf("it did not tell of renewals: %s", strings.Trim(string(said), "\x00"))
	}
}

// A signal ends also who cannot write what it sees, because nobody reads.
func TestSignalWhileNobodyReads(t *testing.T) {
	locks := placeOn(servers.Redis(t).Addr, "")
	s, err := (&backendFlags{url: locks.ours}).open(t.Context())
	ok(t, err)
	t.Cleanup(func() { s.abandon(context.Background()) })
	_, err = s.Election("hello").Campaign(t.Context(), "")
	ok(t, err)
	for _, args := range [][]string{{"ls", "--watch"}, {"show", "--watch", "hello"}, {"leader", "--follow", "hello"}} {
		t.Run(args[0], func(t *testing.T) {
			t.Parallel()
			reader, writer, err := os.Pipe()
			ok(t, err)
			defer reader.Close()
			fill(t, writer)
			cmd := locks.command(append(args, "--trace")...)
			cmd.Stdout = writer
			said, err := cmd.StderrPipe()
			ok(t, err)
			ok(t, cmd.Start())
			ok(t, writer.Close())
			lines := bufio.NewScanner(said)
			for lines.Scan() && !strings.Contains(lines.Text(), ": queue hello: ") {
			}
			endedBy(t, cmd, syscall.SIGTERM)
		})
	}
}

// It ends who waits for a URL from a pipe, too.
func TestSignalWhileNobodyWrites(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"run", "hello", "--", "true"}, {"acquire", "hello"}} {
		pipe := filepath.Join(t.TempDir(), "url")
		ok(t, unix.Mkfifo(pipe, 0o600))
		cmd := place{}.command(append(args[:1:1], append([]string{"--backend-file", pipe}, args[1:]...)...)...)
		ok(t, cmd.Start())
		var writer *os.File
		eventually("reader", func() (is bool) {
			f, err := os.OpenFile(pipe, os.O_WRONLY|unix.O_NONBLOCK, 0)
			writer = f
			return err == nil
		})
		defer writer.Close()
		endedBy(t, cmd, syscall.SIGTERM)
	}
}

// endedBy sends a signal to a command, which has to end by that.
func endedBy(t *testing.T, cmd *exec.Cmd, sig syscall.Signal) {
	t.Helper()
	ok(t, cmd.Process.Signal(sig))
	defer time.AfterFunc(patience, func() { _ = cmd.Process.Kill() }).Stop()
	_ = cmd.Wait() // the state tells
	if code := cmd.ProcessState.ExitCode(); code != exitSignal+int(sig) {
		t.Errorf("%q ended with %d, want %d", cmd.Args[1:], code, exitSignal+int(sig))
	}
}

// isFull reports whether a pipe takes no more.
func isFull(t *testing.T, reader *os.File) (full bool) {
	t.Helper()
	conn, err := reader.SyscallConn()
	ok(t, err)
	ok(t, conn.Control(func(fd uintptr) {
		room, err := unix.FcntlInt(fd, unix.F_GETPIPE_SZ, 0)
		ok(t, err)
		taken, err := unix.IoctlGetInt(int(fd), unix.TIOCINQ)
		ok(t, err)
		full = taken > room-4096 // what is written in pieces may leave a part of the last page
	}))
	return full
}

// childOf waits for the child of a process whose arguments begin with these, and returns its ID.
func childOf(t *testing.T, cmd *exec.Cmd, begin ...string) (pid int) {
	t.Helper()
	eventually("child "+strings.Join(begin, " "), func() bool {
		lines, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", cmd.Process.Pid))
		ok(t, err)
		for _, line := range lines {
			children, _ := os.ReadFile(line) // of a thread that may have ended
			for child := range strings.FieldsSeq(string(children)) {
				args, _ := os.ReadFile("/proc/" + child + "/cmdline") // it may have ended, too
				if strings.HasPrefix(string(args), strings.Join(begin, "\x00")+"\x00") {
					pid, err = strconv.Atoi(child)
					ok(t, err)
				}
			}
		}
		return pid != 0
	})
	return pid
}

// A place is where the locks of a test are: by a way of the command's own, and by ours.
type place struct{ its, ours string }

// placeOn is on a Redis server, for one test of several.
func placeOn(addr, test string) place {
	url := "redis://" + addr + "?prefix=" + test + ":"
	return place{its: url, ours: url}
}

// holders returns how many claims have the lock "hello".
func (p place) holders(t *testing.T) int {
	t.Helper()
	s, err := (&backendFlags{url: p.ours}).open(t.Context())
	ok(t, err)
	defer s.abandon(t.Context())
	queue, err := s.Queue(t.Context(), "hello")
	ok(t, err)
	return len(viewOf("hello", queue).Holders)
}

// heldBack starts holdfast, and returns when it has the lock "hello" and waits for its standard error. goOn lets it go
// on, waits for its end, and returns what it said.
func (p place) heldBack(t *testing.T, args ...string) (cmd *exec.Cmd, goOn func() string) {
	t.Helper()
	reader, writer, err := os.Pipe()
	ok(t, err)
	t.Cleanup(func() { reader.Close() })
	filling := fill(t, writer)
	cmd = p.command(args...)
	cmd.Stderr = writer
	ok(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	ok(t, writer.Close())
	eventually("grant", func() bool { return p.holders(t) == 1 })
	return cmd, func() string {
		lines := bufio.NewReader(reader)
		_, err := lines.Discard(filling)
		ok(t, err)
		said, err := io.ReadAll(lines)
		ok(t, err)
		_ = cmd.Wait() // the state tells
		return strings.TrimSpace(string(said))
	}
}

// command is holdfast with these arguments.
func (p place) command(args ...string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe", args...)
	cmd.Args[0] = "holdfast" // see TestMain
	cmd.Env = append(os.Environ(), backendEnv+"="+p.its)
	return cmd
}

// stopUntilFree stops a process for longer than its lease lives.
func (p place) stopUntilFree(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	ok(t, cmd.Process.Signal(syscall.SIGSTOP))
	eventually("end of the lease", func() bool { return p.holders(t) == 0 })
	ok(t, cmd.Process.Signal(syscall.SIGCONT))
}

// fill fills a pipe, and returns with how many bytes.
func fill(t *testing.T, writer *os.File) (n int) {
	t.Helper()
	conn, err := writer.SyscallConn()
	ok(t, err)
	ok(t, conn.Write(func(fd uintptr) bool {
		for {
			some, err := unix.Write(int(fd), make([]byte, 4096))
			if err != nil {
				return true
			}
			n += some
		}
	}))
	return n
}
