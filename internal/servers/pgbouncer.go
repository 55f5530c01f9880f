package servers

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// PgBouncer starts a proxy in front of a PostgreSQL server that pools in this mode: "session" or "transaction". More
// settings, like "default_pool_size = 5", replace those that it is started with.
func PgBouncer(t testing.TB, to *Server, mode string, settings ...string) *Server {
	t.Helper()
	k := kind{
		name:    "pgbouncer",
		program: installed("pgbouncer", "/usr/sbin/pgbouncer"),
		install: "apt-get install -y --no-install-recommends pgbouncer",
		ready:   answersAt,
	}
	if v, ok := inPlaceOf(pgBouncer); ok {
		k.program, k.install = v.path("pgbouncer"), installExtra
		settings = append([]string{"max_prepared_statements = 200"}, settings...)
	}
	if os.Getuid() == 0 {
		k.user = "postgres" // root is refused
	}
	k.args = func(s *Server) []string {
		file := filepath.Join(s.Dir, "pgbouncer.ini")
		write(t, file, pgBouncerINI(s, to, mode)+"\n"+strings.Join(settings, "\n")+"\n")
		if k.user != "" {
			if err := giveTo(k.user, file); err != nil {
				t.Fatal(err)
			}
		}
		return []string{file}
	}
	return start(t, supervised(t, k))
}

// supervised lets a server be started again when it ends by itself, as an init system does. PgBouncer 1.18 ends when
// requests are cancelled on a busy machine: https://github.com/pgbouncer/pgbouncer/issues/822.
func supervised(t testing.TB, k kind) kind {
	t.Helper()
	program, err := exec.LookPath(k.program)
	Require(t, err == nil, k.program, k.install)
	const again = `trap 'kill $!; wait; exit' TERM; while :; do "$0" "$@" & wait $!; sleep 0.1; done`
	args := k.args
	k.program, k.args = "sh", func(s *Server) []string {
		return append([]string{"-c", again, program}, args(s)...)
	}
	return k
}

// KeepsPrepared reports whether [PgBouncer] prepares statements in each session where they are needed. Those since 1.21
// do, and are told to.
func KeepsPrepared() bool {
	_, newer := inPlaceOf(pgBouncer)
	return newer
}

func pgBouncerINI(s, to *Server, mode string) string {
	return fmt.Sprintf(`[databases]
postgres = host=127.0.0.1 port=%s dbname=postgres user=postgres

[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %s
unix_socket_dir =
auth_type = any
pool_mode = %s
default_pool_size = 50
max_client_conn = 1000
ignore_startup_parameters = extra_float_digits`, to.Port(), s.Port(), mode)
}

// answersAt asks whether somebody listens; a server that could not has ended.
func answersAt(ctx context.Context, s *Server) error {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", s.Addr)
	if err != nil {
		return err
	}
	return conn.Close()
}
