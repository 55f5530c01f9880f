package soak

import (
	"database/sql"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/internal/servers"
	"github.com/holdfast-go/holdfast/sqllock"

	_ "github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite"
)

// A database is a server with the locks in one of its databases.
type database struct {
	server *servers.Server
	name   string // of the database
	kind   databaseKind
}

// A databaseKind is what servers differ in.
type databaseKind struct {
	name     string
	url      func(addr, database string) string // for Holdfast
	driver   string                             // of database/sql
	source   func(addr, database string) string
	size     func(t testing.TB, d *database) int64
	dump     string // a shell command that copies database $1 of the server at host $2 and port $3 into database $4
	restored string // the database that a dump is restored in
	failOver func(t testing.TB, d *database)
}

func (d *database) Name() string { return d.kind.name }

func (d *database) Open(t testing.TB) *drivertest.Facade { return open(t, d.url()) }

func (d *database) Size(t testing.TB) int64 { return d.kind.size(t, d) }

func (d *database) url() string { return d.kind.url(d.server.Addr, d.name) }

func (d *database) Mishaps() []Mishap {
	mishaps := []Mishap{
		{Name: "old snapshot", Do: d.keepSnapshot},
		{Name: "dump and restore", Moves: true, Do: d.restore},
		{Name: "crash and restart", Do: d.crash},
		{Name: "full pool", Do: d.fillPool},
	}
	if d.kind.failOver != nil {
		mishaps = append(mishaps, Mishap{Name: "failover to a standby", Moves: true, Do: func(t testing.TB) func() {
			d.kind.failOver(t, d)
			return over
		}})
	}
	return mishaps
}

// admin opens the database as any other program would.
func (d *database) admin(t testing.TB) *sql.DB {
	t.Helper()
	db, err := sql.Open(d.kind.driver, d.kind.source(d.server.Addr, d.name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// migrated makes the tables.
func (d *database) migrated(t testing.TB) *database {
	t.Helper()
	if err := sqllock.MigrateURL(t.Context(), d.url()); err != nil {
		t.Fatal(err)
	}
	return d
}

// keepSnapshot leaves a transaction open, for which the server keeps what changes since.
func (d *database) keepSnapshot(t testing.TB) func() {
	tx, err := d.admin(t).BeginTx(t.Context(), &sql.TxOptions{Isolation: sql.LevelRepeatableRead})
	if err != nil {
		t.Fatal(err)
	}
	var n int64
	if err := tx.QueryRow("SELECT count(*) FROM holdfast_store").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return func() { tx.Rollback() } // it changed nothing
}

// restore goes on in a copy, as it is usually made: what a dump leaves out, migrating repairs.
func (d *database) restore(t testing.TB) func() {
	if _, err := d.admin(t).Exec("CREATE DATABASE " + d.kind.restored); err != nil {
		t.Fatal(err)
	}
	host, port, _ := strings.Cut(d.server.Addr, ":")
	run(t, "sh", "-ec", d.kind.dump, "sh", d.name, host, port, d.kind.restored)
	d.name = d.kind.restored
	d.migrated(t)
	return over
}

func (d *database) crash(t testing.TB) func() {
	d.server.Kill(t)
	d.server.Restart(t)
	return over
}

// fillPool takes all connections that the server has to give.
func (d *database) fillPool(t testing.TB) func() {
	db := d.admin(t)
	db.SetMaxIdleConns(1000)
	var fill []*sql.Conn
	for range 1000 {
		conn, err := db.Conn(t.Context())
		if err != nil {
			break
		}
		fill = append(fill, conn)
	}
	if len(fill) == 1000 {
		t.Error("the server has more than 1000 connections to give")
	}
	return func() {
		for _, conn := range fill {
			conn.Close()
		}
		db.Close()
	}
}

// run runs a program, and fails with what it said.
func run(t testing.TB, program string, args ...string) {
	t.Helper()
	if out, err := exec.Command(program, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %q: %v\n%s", program, args, err, out)
	}
}

// number asks a database for one.
func number(t testing.TB, db *sql.DB, query string) (n int64) {
	t.Helper()
	if err := db.QueryRow(query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// MariaDB starts a MariaDB server, with as much memory and log as PostgreSQL has by default: those of a server in other
// tests are full after some ten thousand names.
func MariaDB(t testing.TB) Store {
	server := servers.MariaDB(t, "--innodb-log-file-size=1G", "--innodb-buffer-pool-size=256M")
	return (&database{server: server, name: "test", kind: databaseKind{
		name:   "MariaDB",
		url:    func(addr, name string) string { return "mysql://root@" + addr + "/" + name },
		driver: "mysql",
		source: func(addr, name string) string { return "root@tcp(" + addr + ")/" + name },
		size: func(t testing.TB, d *database) int64 {
			return folderSize(t, filepath.Join(d.server.Dir, "data", d.name))
		},
		dump: `mysqldump --no-defaults -uroot -h"$2" -P"$3" --single-transaction "$1" |` +
			` mysql --no-defaults -uroot -h"$2" -P"$3" "$4"`,
		restored: "restored",
	}}).migrated(t)
}

// Postgres starts a PostgreSQL server.
func Postgres(t testing.TB) Store {
	return (&database{server: servers.Postgres(t), name: "postgres", kind: databaseKind{
		name:   "PostgreSQL",
		url:    postgresURL,
		driver: "pgx",
		source: postgresURL,
		size: func(t testing.TB, d *database) int64 {
			return number(t, d.admin(t), "SELECT pg_database_size(current_database())")
		},
		dump: `pg_dump -U postgres -h "$2" -p "$3" "$1" | ` +
			`psql -q -o /dev/null -v ON_ERROR_STOP=1 -U postgres -h "$2" -p "$3" "$4"`,
		restored: "restored",
		failOver: promoteStandby,
	}}).migrated(t)
}

func postgresURL(addr, name string) string {
	return "postgres://postgres@" + addr + "/" + name + "?sslmode=disable"
}

// promoteStandby makes a standby, lets it catch up, and promotes it when the primary has crashed.
func promoteStandby(t testing.TB, d *database) {
	standby := servers.Postgres(t)
	standby.Stop(t)
	host, port, _ := strings.Cut(d.server.Addr, ":")
	data := filepath.Join(standby.Dir, "data")
	owner := exec.Command("chown", "-R", "--reference="+standby.Dir, data)
	if err := os.RemoveAll(data); err != nil {
		t.Fatal(err)
	}
	run(t, "pg_basebackup", "-U", "postgres", "-h", host, "-p", port, "-D", data, "-R", "--no-sync", "-c", "fast")
	if out, err := owner.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	standby.Restart(t)
	behind := d.admin(t)
	const lag = "SELECT count(*) FROM pg_stat_replication WHERE replay_lsn = pg_current_wal_lsn()"
	eventually(t, "the standby has caught up", func() bool { return number(t, behind, lag) == 1 })
	d.server.Kill(t)
	d.server = standby
	db := d.admin(t)
	if _, err := db.Exec("SELECT pg_promote()"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the standby is the primary",
		func() bool { return number(t, db, "SELECT pg_is_in_recovery()::int") == 0 })
}
