package servers

import (
	"context"
	"fmt"
	"net"
	"os"
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
	return start(t, onClock(t, postgres(args), clock))
}

// PostgresTLS is [Postgres] with a certificate. It asks the user "certified" for one of this authority under that
// name, and lets the user "encrypted" in by TLS alone.
func PostgresTLS(t testing.TB, own Certificate, clients *Authority) *Server {
	t.Helper()
	return start(t, withTLS(t, postgres(nil), own, clients))
}

// withTLS returns the kind of PostgreSQL server that runs as this one does, with TLS as [PostgresTLS] has it.
func withTLS(t testing.TB, k kind, own Certificate, clients *Authority) kind {
	usual := k.args
	k.args = func(s *Server) []string {
		args := usual(s)
		for setting, content := range map[string][]byte{
			"ssl_cert_file": content(t, own.Cert), "ssl_key_file": content(t, own.Key),
			"ssl_ca_file": content(t, clients.File), "hba_file": []byte(tlsHBA),
		} {
			args = append(args, "-c", setting+"="+s.give(t, setting, content))
		}
		return append(args, "-c", "ssl=on")
	}
	return k
}

// give writes a file into the server's folder that nobody else can read, and returns its path.
func (s *Server) give(t testing.TB, name string, content []byte) (path string) {
	t.Helper()
	path = filepath.Join(s.Dir, name)
	err := os.WriteFile(path, content, 0o600)
	if err == nil && s.kind.user != "" {
		err = giveTo(s.kind.user, path)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func content(t testing.TB, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

const tlsHBA = `hostssl all certified 127.0.0.1/32 cert
hostssl all encrypted 127.0.0.1/32 password
hostnossl all certified,encrypted 127.0.0.1/32 reject
host all all 127.0.0.1/32 trust
`

// PostgresStandby starts a standby of the PostgreSQL server at an address, which may be a proxy's, and returns when it
// serves reads. The primary does not wait for it with its commits.
func PostgresStandby(t testing.TB, primary string) *Server {
	t.Helper()
	k := postgres(nil)
	host, port, err := net.SplitHostPort(primary)
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(filepath.Dir(k.program), "pg_basebackup")
	k.alike = false
	k.prepare = func(s *Server) [][]string {
		return [][]string{{
			copied, "-D", data(s), "-d", "host=" + host + " port=" + port + " user=postgres", "-R", "-X", "stream",
			"-c", "fast", "--no-sync",
		}}
	}
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
	pid, state := lines[0], strings.TrimSpace(lines[len(lines)-1])
	if pid != strconv.Itoa(s.Pid) || state != "ready" && state != "standby" {
		return fmt.Errorf("process %s is %q", pid, state)
	}
	return nil
}
