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
	Require(t, err == nil, k.program, k.install)
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

// PostgresTLS is [Postgres] with a certificate. It asks the user "certified" for one of this authority under that
// name, and lets the user "encrypted" in by TLS alone.
func PostgresTLS(t testing.TB, own Certificate, clients *Authority) *Server {
	t.Helper()
	k := postgres(nil)
	usual := k.args
	k.args = func(s *Server) []string {
		file := func(name string, content []byte) string {
			path := filepath.Join(s.Dir, name)
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
			if k.user != "" {
				if err := giveTo(k.user, path); err != nil {
					t.Fatal(err)
				}
			}
			return path
		}
		copied := func(name, from string) string {
			content, err := os.ReadFile(from)
			if err != nil {
				t.Fatal(err)
			}
			return file(name, content)
		}
		return append(usual(s), "-c", "ssl=on", "-c", "ssl_cert_file="+copied("cert.pem", own.Cert),
			"-c", "ssl_key_file="+copied("key.pem", own.Key), "-c", "ssl_ca_file="+copied("ca.pem", clients.File),
			"-c", "hba_file="+file("hba.conf", []byte(tlsHBA)))
	}
	return start(t, k)
}

const tlsHBA = `hostssl all certified 127.0.0.1/32 cert
hostssl all encrypted 127.0.0.1/32 password
hostnossl all certified,encrypted 127.0.0.1/32 reject
host all all 127.0.0.1/32 trust
`

func postgres(args []string) kind {
	k := kind{
		name:    "postgres",
		program: installed("postgres", "/usr/lib/postgresql/*/bin/postgres"),
		install: "apt-get install -y --no-install-recommends postgresql",
		args: func(s *Server) []string {
			return slices.Concat([]string{
				"-D", data(s), "-p", s.Port(), "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=",
				"-c", "fsync=off", "-c", "full_page_writes=off", "-c", "max_connections=300",
				"-c", "shared_buffers=16MB",
				"-c", "dynamic_shared_memory_type=mmap", // one that is killed leaves nothing elsewhere
			}, args)
		},
		alike: true,
		ready: postgresReady,
		stop:  syscall.SIGINT, // it does not wait for its clients to leave
	}
	if v, ok := inPlaceOf(postgreSQL); ok {
		k.program, k.install = v.path("postgres"), installExtra
	}
	initdb := filepath.Join(filepath.Dir(k.program), "initdb")
	k.prepare = func(s *Server) [][]string {
		return [][]string{{initdb, "-D", data(s), "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C",
			"--no-sync"}}
	}
	if os.Getuid() == 0 {
		k.user = "postgres" // root is refused
	}
	return k
}

// postgresReady reads what the server says of itself in its lock file: the first line is its number, the last its
// state.
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
