package servers

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// mysqlKind is a MySQL server that starts as [MariaDB] starts one.
func mysqlKind(t testing.TB, v Version, args []string) kind {
	program := v.path("mysqld")
	return kind{
		name:    "mysql",
		program: program,
		install: installExtra,
		prepare: func(s *Server) [][]string {
			users := filepath.Join(s.Dir, "users.sql")
			write(t, users, mysqlUsers)
			return [][]string{slices.Concat(
				[]string{program}, mysqlArgs(s), mysqlOwnArgs(program),
				[]string{"--initialize-insecure", "--init-file=" + users},
			)}
		},
		args:  func(s *Server) []string { return slices.Concat(mysqlArgs(s), mysqlOwnArgs(program), args) },
		ready: mysqlReady,
	}
}

// mysqlUsers is what MariaDB's tool makes by itself. Each statement has a line.
const mysqlUsers = `CREATE USER 'root'@'127.0.0.1' IDENTIFIED BY '';
GRANT ALL ON *.* TO 'root'@'127.0.0.1' WITH GRANT OPTION;
CREATE DATABASE test;
`

// mysqlOwnArgs are what MariaDB does not understand: where a server is that was not installed but unpacked, and less
// than it does for many clients.
func mysqlOwnArgs(program string) []string {
	base := mysqlBase(program)
	return []string{
		"--basedir=" + base,
		"--lc-messages-dir=" + filepath.Join(base, "share", "mysql"),
		"--plugin-dir=" + mysqlPlugins(program),
		"--mysqlx=OFF", "--secure-file-priv=", "--performance-schema=OFF", "--innodb-redo-log-capacity=8M",
	}
}

func mysqlBase(program string) string {
	base := filepath.Join(filepath.Dir(program), "root", "usr")
	if _, err := os.Stat(base); err != nil {
		base = filepath.Dir(filepath.Dir(program)) // it was put there by hand
	}
	return base
}

func mysqlPlugins(program string) string {
	return filepath.Join(mysqlBase(program), "lib", "mysql", "plugin")
}
