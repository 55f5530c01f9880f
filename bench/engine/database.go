package engine

import (
	"database/sql"
	"strings"
	"testing"

	_ "github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"

	"github.com/holdfast-go/holdfast/internal/servers"
	"github.com/holdfast-go/holdfast/sqllock"
)

// MariaDB starts a MariaDB server that does not wait for its disk, with the tables for locks.
func MariaDB(t testing.TB) *Engine {
	t.Helper()
	// the default, as for the others
	s := servers.MariaDB(t, "--max-connections=1000", "--innodb-buffer-pool-size=128M")
	prepare(t, "mysql", "root@tcp("+s.Addr+")/test", "mysql://root@"+s.Addr+"/test")
	version := query(t, "mysql", "root@tcp("+s.Addr+")/test", "SELECT VERSION()")
	product, _, _ := strings.Cut(version, "-")
	return &Engine{Addr: s.Addr, Version: "MariaDB " + product, pid: s.Pid, Size: func() int64 {
		return bytes(t, query(t, "mysql", "root@tcp("+s.Addr+")/test", "SELECT SUM(FILE_SIZE) FROM "+
			"information_schema.INNODB_SYS_TABLESPACES WHERE NAME LIKE 'test/%'"))
	}}
}

// Postgres starts a PostgreSQL server that does not wait for its disk, with the tables for locks.
func Postgres(t testing.TB) *Engine {
	t.Helper()
	s := servers.Postgres(t, "-c", "max_connections=600", "-c", "shared_buffers=128MB")
	url := "postgres://postgres@" + s.Addr + "/postgres?sslmode=disable"
	prepare(t, "pgx", url, url)
	version, _, _ := strings.Cut(query(t, "pgx", url, "SHOW server_version"), " ")
	return &Engine{Addr: s.Addr, Version: "PostgreSQL " + version, pid: s.Pid, family: true, Size: func() int64 {
		return bytes(t, query(t, "pgx", url, "SELECT pg_database_size(current_database())"))
	}}
}

// prepare makes the tables of Holdfast, and the one of the limit.
func prepare(t testing.TB, driver, source, url string) {
	t.Helper()
	if err := sqllock.MigrateURL(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open(driver, source)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("CREATE TABLE bench_raw (name VARCHAR(100) PRIMARY KEY)"); err != nil {
		t.Fatal(err)
	}
}

func query(t testing.TB, driver, source, statement string) (answer string) {
	t.Helper()
	db, err := sql.Open(driver, source)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRow(statement).Scan(&answer); err != nil {
		t.Fatal(err)
	}
	return answer
}
