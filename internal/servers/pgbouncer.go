package servers

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"
)

// PgBouncer starts a proxy in front of a PostgreSQL server that pools in this mode: "session" or "transaction".
func PgBouncer(t testing.TB, to *Server, mode string) *Server {
	t.Helper()
	k := kind{
		name:    "pgbouncer",
		program: installed("pgbouncer", "/usr/sbin/pgbouncer"),
		install: "apt-get install -y --no-install-recommends pgbouncer",
		ready:   answersAt,
	}
	if os.Getuid() == 0 {
		k.user = "postgres" // root is refused
	}
	k.args = func(s *Server) []string {
		file := filepath.Join(s.Dir, "pgbouncer.ini")
		write(t, file, pgBouncerINI(s, to, mode))
		if k.user != "" {
			if err := giveTo(k.user, file); err != nil {
				t.Fatal(err)
			}
		}
		return []string{file}
	}
	return start(t, k)
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
