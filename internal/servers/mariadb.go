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
// survives a crash of the server, though not of the machine. More arguments go to the server. It may be MySQL.
func MariaDB(t testing.TB, args ...string) *Server {
	t.Helper()
	if v, ok := inPlaceOf(mySQL); ok {
		return start(t, mysqlKind(t, v, args))
	}
	k := mariaDBKind(args)
	if v, ok := inPlaceOf(mariaDB); ok {
		unpackedMariaDB(&k, v)
	}
	return start(t, k)
}

// mariaDBKind is the server that is installed.
func mariaDBKind(args []string) kind {
	return kind{
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
	}
}

// unpackedMariaDB makes it a server that was not installed but unpacked. The tool that fills a server's folder would
// run programs that do not find their libraries; so the server is given the tool's statements here.
func unpackedMariaDB(k *kind, v Version) {
	base := v.path("root/usr")
	share := filepath.Join(base, "share", "mariadb")
	if _, err := os.Stat(share); err != nil {
		share = filepath.Join(base, "share", "mysql") // as older ones call it
	}
	where := []string{"--basedir=" + base, "--lc-messages-dir=" + share,
		"--plugin-dir=" + filepath.Join(base, "lib", "mysql", "plugin")}
	k.program, k.install = v.path(v.program), installExtra
	k.alike = false // what is kept is known by the first program, which is the shell here
	k.prepare = func(s *Server) [][]string {
		return [][]string{slices.Concat([]string{"sh", "-c", fillMariaDB, "fill", share, data(s), k.program},
			mysqlArgs(s), where, []string{"--bootstrap", "--innodb-log-file-size=8M"})}
	}
	usual := k.args
	k.args = func(s *Server) []string { return slices.Concat(usual(s), where) }
}

// fillMariaDB is a script that is given the folder of the statements, the one to fill, and the server's command line.
const fillMariaDB = `share=$1
mkdir -p "$2/mysql" "$2/test"
shift 2
{
	echo "USE mysql;"
	echo "SET @auth_root_socket=NULL, @skip_auth_anonymous=1;"
	cd "$share"
	cat m*_system_tables.sql m*_performance_tables.sql m*_system_tables_data.sql
} | "$@"`

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
