//go:build linux

package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/servers"
)

// The command of a service gets the sockets that systemd opened for it, under its own process ID, as if there were no
// holdfast in between.
func TestSocketActivation(t *testing.T) {
	activate := tool(t, "systemd-socket-activate", "systemd")
	const script = `[ "$LISTEN_PID" = $$ ] && [ -S /proc/$$/fd/3 ] && echo "$LISTEN_FDS $LISTEN_FDNAMES"`
	for name, verb := range map[string][]string{
		"run":      {"run"},
		"no guard": {"run", "--no-guard"},
		"ignore":   {"run", "--on-lost=ignore"},
		"elect":    {"elect"},
	} {
		t.Run(name, func(t *testing.T) {
			folder, addr := t.TempDir(), servers.FreeAddr(t)
			args := append([]string{"-l", addr, "--fdname=web", "-E", backendEnv + "=file:" + folder + "/locks.db",
				program(t, folder, "holdfast", 0o755)}, append(verb, "job", "--", "sh", "-c", script)...)
			cmd := exec.Command(activate, args...)
			said, err := cmd.StdoutPipe()
			ok(t, err)
			ok(t, cmd.Start())
			t.Cleanup(func() { _ = cmd.Process.Kill() })
			knock(t, addr)
			text, err := io.ReadAll(said)
			ok(t, err)
			if err := cmd.Wait(); err != nil || string(text) != "1 web\n" {
				t.Errorf("the command says %q, and it ended with %v", text, err)
			}
		})
	}
}

// knock connects to an address as soon as somebody listens there.
func knock(t *testing.T, addr string) {
	t.Helper()
	eventually("listener at "+addr, func() bool {
		conn, err := net.Dial("tcp", addr)
		if err == nil {
			t.Cleanup(func() { conn.Close() })
		}
		return err == nil
	})
}

// A command can tell the service manager that it is ready, and is told that the watchdog is for it.
func TestNotify(t *testing.T) {
	tool(t, "systemd-notify", "systemd")
	for _, verb := range []string{"run", "elect"} {
		t.Run(verb, func(t *testing.T) {
			folder, manager := t.TempDir(), listenAsManager(t)
			const script = `[ "$WATCHDOG_PID" = $$ ] && exec systemd-notify --ready --status="ready at last"`
			cmd := exec.Command("sh", "-c", `WATCHDOG_PID=$$ exec "$@"`, "sh",
				program(t, folder, "holdfast", 0o755), verb, "job", "--", "sh", "-c", script)
			cmd.Env = append(os.Environ(), backendEnv+"=file:"+folder+"/locks.db", "WATCHDOG_USEC=60000000",
				"NOTIFY_SOCKET="+manager.LocalAddr().String())
			cmd.Stderr = os.Stderr
			ok(t, cmd.Start())
			if said := hear(t, manager, "READY=1"); !strings.Contains(said, "STATUS=ready at last") {
				t.Errorf("the manager is told %q", said)
			}
			hear(t, manager, "BARRIER=1") // systemd-notify waits until it was read
			ok(t, cmd.Wait())
		})
	}
}

// While nothing runs, holdfast itself tells the watchdog that it lives.
func TestWatchdogWhileWaiting(t *testing.T) {
	folder, manager := t.TempDir(), listenAsManager(t)
	s, err := (&backendFlags{url: "file:" + folder + "/locks.db"}).open(t.Context())
	ok(t, err)
	t.Cleanup(func() { s.abandon(context.Background()) })
	_, err = s.Mutex("job").Lock(t.Context())
	ok(t, err)
	cmd := exec.Command("sh", "-c", `WATCHDOG_PID=$$ exec "$@"`, "sh", program(t, folder, "holdfast", 0o755), "elect",
		"job", "--", "true")
	cmd.Env = append(os.Environ(), backendEnv+"=file:"+folder+"/locks.db", "WATCHDOG_USEC=100000",
		"NOTIFY_SOCKET="+manager.LocalAddr().String())
	ok(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	for range 3 {
		hear(t, manager, "WATCHDOG=1")
	}
}

// listenAsManager is the socket of a service manager.
func listenAsManager(t *testing.T) *net.UnixConn {
	t.Helper()
	folder, err := os.MkdirTemp("", "hf") // the path of a socket must be short
	ok(t, err)
	t.Cleanup(func() { os.RemoveAll(folder) })
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Net: "unixgram", Name: filepath.Join(folder, "notify")})
	ok(t, err)
	t.Cleanup(func() { conn.Close() })
	return conn
}

// hear waits until a service manager is told something, and returns it.
func hear(t *testing.T, manager *net.UnixConn, want string) string {
	t.Helper()
	ok(t, manager.SetReadDeadline(time.Now().Add(patience)))
	for {
		text := make([]byte, 4096)
		n, err := manager.Read(text)
		ok(t, err)
		if strings.Contains(string(text[:n]), want) {
			return string(text[:n])
		}
	}
}

// tool finds a program, and says how to get it where it is missing.
func tool(t *testing.T, name, debian string) (path string) {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil && os.Getenv("HOLDFAST_NO_SKIP") == "" {
		t.Skipf("%v; install it with: apt-get install %s", err, debian)
	}
	ok(t, err)
	return path
}

// As the first process of a container holdfast waits for orphans, also while it waits for the lock, and passes signals
// on.
func TestFirstProcess(t *testing.T) {
	unshare, nsenter := tool(t, "unshare", "util-linux"), tool(t, "nsenter", "util-linux")
	container := []string{"--pid", "--fork", "--mount-proc", "--kill-child"}
	if out, err := exec.Command(unshare, append(container, "true")...).CombinedOutput(); err != nil {
		t.Skipf("no process namespace can be made here: %s; run this as root", out)
	}
	folder := t.TempDir()
	holdfast := program(t, folder, "holdfast", 0o755)
	url := "file:" + folder + "/locks.db"
	start := func(t *testing.T, args ...string) (cmd *exec.Cmd, first int, said *bufio.Reader) {
		t.Helper()
		cmd = exec.Command(unshare, append(append([]string{}, container...), append([]string{holdfast}, args...)...)...)
		cmd.Env = append(os.Environ(), backendEnv+"="+url)
		out, err := cmd.StdoutPipe()
		ok(t, err)
		ok(t, cmd.Start())
		t.Cleanup(func() { _ = cmd.Process.Kill() })
		return cmd, childOf(t, cmd, holdfast), bufio.NewReader(out)
	}
	t.Run("while it waits", func(t *testing.T) {
		s, err := (&backendFlags{url: url}).open(t.Context())
		ok(t, err)
		t.Cleanup(func() { s.abandon(context.Background()) })
		_, err = s.Mutex("job").Lock(t.Context())
		ok(t, err)
		cmd, first, _ := start(t, "run", "job", "--", "true")
		eventually("wait", func() bool {
			queue, err := s.Queue(t.Context(), "job")
			ok(t, err)
			return len(queue) == 2
		})
		enter := exec.Command(nsenter, "-t", strconv.Itoa(first), "-p", "-m", "sh", "-c",
			"sleep 1 &")
		ok(t, enter.Run())
		eventually("orphan", func() bool { return len(childrenOf(t, first)) == 1 })
		eventually("end of the orphan", func() bool { return len(childrenOf(t, first)) == 0 })
		ok(t, syscall.Kill(first, syscall.SIGTERM))
		_ = cmd.Wait() // the state tells
		if code := cmd.ProcessState.ExitCode(); code != exitSignal+int(syscall.SIGTERM) {
			t.Errorf("it ended with %d", code)
		}
	})
	t.Run("while the command runs", func(t *testing.T) {
		cmd, first, said := start(t, "run", "other", "--", "sh", "-c",
			`trap "exit 3" TERM; echo ready; while :; do sleep 0.05; done`)
		tellsLine(t, said, "ready")
		ok(t, syscall.Kill(first, syscall.SIGTERM))
		_ = cmd.Wait() // the state tells
		if code := cmd.ProcessState.ExitCode(); code != 3 {
			t.Errorf("it ended with %d, want what the command says, 3", code)
		}
	})
}

func tellsLine(t *testing.T, said *bufio.Reader, want string) {
	t.Helper()
	line, err := said.ReadString('\n')
	if err != nil || strings.TrimSpace(line) != want {
		t.Fatalf("it says %q, %v; want %q", line, err, want)
	}
}

// childrenOf are the children of a process, dead or alive, that nobody has waited for.
func childrenOf(t *testing.T, pid int) (children []string) {
	t.Helper()
	lines, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	ok(t, err)
	for _, line := range lines {
		text, _ := os.ReadFile(line) // of a thread that may have ended
		children = append(children, strings.Fields(string(text))...)
	}
	return children
}
