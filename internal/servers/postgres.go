package servers

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// Postgres starts a PostgreSQL server with an empty database "postgres", which the user "postgres" uses without a
// password. A commit survives a crash of the server, though not of the machine. More arguments, like "-c",
// "max_connections=10", go to the server.
func Postgres(t testing.TB, args ...string) *Server {
	t.Helper()
	return start(t, postgres(args))
}

// PostgresAt is [Postgres] with a wall clock of its own.
func PostgresAt(t testing.TB, clock *Clock, args ...string) *Server {
	t.Helper()
	k := postgres(args)
	path, err := exec.LookPath(k.program)
	Need(t, err == nil, k.program, k.install)
	if k.user != "" {
		if err := openTo(k.user, filepath.Dir(clock.file)); err != nil {
			t.Fatal(err)
		}
	}
	usual := k.args
	k.program = "env"
	k.args = func(s *Server) []string { return slices.Concat(clock.env(), []string{path}, usual(s)) }
	return start(t, k)
}

func postgres(args []string) kind {
	k := kind{
		name:    "postgres",
		program: installed("postgres", "/usr/lib/postgresql/*/bin/postgres"),
		install: "apt-get install -y --no-install-recommends postgresql",
		args: func(s *Server) []string {
			return slices.Concat([]string{
				"-D", data(s), "-p", s.Port(), "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=",
				"-c", "fsync=off", "-c", "full_page_writes=off", "-c", "max_connections=300", "-c", "shared_buffers=16MB",
			}, args)
		},
		ready: postgresReady,
		stop:  syscall.SIGINT, // it does not wait for its clients to leave
	}
	initdb := filepath.Join(filepath.Dir(k.program), "initdb")
	k.prepare = func(s *Server) [][]string {
		return [][]string{{initdb, "-D", data(s), "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C", "--no-sync"}}
	}
	if os.Getuid() == 0 {
		k.user = "postgres" // root is refused
	}
	return k
}

// postgresReady reads what the server says of itself in its lock file: the first line is its number, the last its state.
func postgresReady(_ context.Context, s *Server) error {
	file, err := os.ReadFile(filepath.Join(data(s), "postmaster.pid"))
	if err != nil {
		return err
	}
	lines := strings.Split(strings.TrimSpace(string(file)), "\n")
	if pid, state := lines[0], strings.TrimSpace(lines[len(lines)-1]); pid != strconv.Itoa(s.Pid) || state != "ready" {
		return fmt.Errorf("process %s is %q", pid, state)
	}
	return nil
}
