package servers

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
)

// MariaDB starts a MariaDB server with an empty database "test", which "root" uses without a password. A commit
// survives a crash of the server, though not of the machine. More arguments go to the server. With HOLDFAST_EXTRA=1
// it is MySQL 9.
func MariaDB(t testing.TB, args ...string) *Server {
	t.Helper()
	if extraWanted() {
		return MySQL(t, args...)
	}
	return start(t, kind{
		name:    "mariadb",
		program: installed("mariadbd", "/usr/sbin/mariadbd"),
		install: "apt-get install -y --no-install-recommends mariadb-server",
		prepare: func(s *Server) [][]string {
			return [][]string{slices.Concat(
				[]string{"mariadb-install-db", "--no-defaults", "--datadir=" + data(s), "--tmpdir=" + s.Dir,
					"--skip-name-resolve"},
				asRoot(),
				[]string{"--auth-root-authentication-method=normal", "--innodb-log-file-size=8M"},
			)}
		},
		alike: true,
		args:  func(s *Server) []string { return slices.Concat(mysqlArgs(s), args) },
		ready: mysqlReady,
	})
}

// mysqlArgs are what MariaDB and MySQL understand alike. The path of the socket is relative to the data, because a
// longer one may not fit. Temporary tables are in the server's own folder: one that starts removes all that it finds.
func mysqlArgs(s *Server) []string {
	return slices.Concat([]string{
		"--no-defaults", "--datadir=" + data(s), "--tmpdir=" + s.Dir, "--socket=socket", "--pid-file=pid",
		"--port=" + s.Port(), "--bind-address=127.0.0.1", "--skip-name-resolve", "--skip-log-bin",
		"--max-connections=500", "--innodb-buffer-pool-size=128M", "--innodb-flush-log-at-trx-commit=2",
	}, asRoot())
}

// asRoot is what a server must be told that we start as root.
func asRoot() []string {
	if os.Getuid() != 0 {
		return nil
	}
	return []string{"--user=root"}
}

// data is the folder of what a server must keep.
func data(s *Server) string { return filepath.Join(s.Dir, "data") }

// installed is the last of the files that match a pattern, or else a program on the PATH.
func installed(name, pattern string) string {
	if files, _ := filepath.Glob(pattern); len(files) > 0 {
		return files[len(files)-1]
	}
	return name
}

// mysqlReady asks whether our server has written its number, which it does once it listens.
func mysqlReady(_ context.Context, s *Server) error {
	pid, err := os.ReadFile(filepath.Join(data(s), "pid"))
	if err != nil {
		return err
	}
	if got := string(bytes.TrimSpace(pid)); got != strconv.Itoa(s.Pid) {
		return fmt.Errorf("process %s had this folder", got)
	}
	return nil
}
