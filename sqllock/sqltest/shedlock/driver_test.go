package shedlock

import (
	"context"
	"database/sql"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/internal/servers"
	"github.com/holdfast-go/holdfast/sqllock"

	_ "github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"
)

// A server is one that may have ShedLock's table.
type server struct {
	name  string
	start func(testing.TB, ...string) *servers.Server
	room  []string // arguments for many connections
	url   func(addr string) string
	sql   string                   // the name of the database/sql driver
	dsn   func(addr string) string // for it
	table string                   // the statement that makes the table, as ShedLock's documentation has it
}

var all = []server{
	{
		name: "mariadb", start: servers.MariaDB, sql: "mysql",
		room: []string{"--max-connections=2000"},
		url:  func(addr string) string { return "mysql://root@" + addr + "/test" },
		dsn:  func(addr string) string { return "root@tcp(" + addr + ")/test" },
		table: "CREATE TABLE shedlock(name VARCHAR(64) NOT NULL, lock_until TIMESTAMP(3) NOT NULL," +
			" locked_at TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3)," +
			" locked_by VARCHAR(255) NOT NULL, PRIMARY KEY (name))",
	},
	{
		name: "postgres", start: servers.Postgres, sql: "pgx",
		room: []string{"-c", "max_connections=1000"},
		url:  func(addr string) string { return "postgres://postgres@" + addr + "/postgres" },
		dsn:  func(addr string) string { return "postgres://postgres@" + addr + "/postgres" },
		table: "CREATE TABLE shedlock(name VARCHAR(64) NOT NULL, lock_until TIMESTAMP NOT NULL," +
			" locked_at TIMESTAMP NOT NULL, locked_by VARCHAR(255) NOT NULL, PRIMARY KEY (name))",
	},
}

// patience bounds what a test waits for.
const patience = time.Minute

// begin starts a server that has both tables.
func (s server) begin(t testing.TB, args ...string) *servers.Server {
	t.Helper()
	running := s.start(t, append(s.room, args...)...)
	if err := sqllock.MigrateURL(t.Context(), s.url(running.Addr)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.pool(t, running.Addr).ExecContext(t.Context(), s.table); err != nil {
		t.Fatal(err)
	}
	return running
}

// pool opens connections as another program does.
func (s server) pool(t testing.TB, addr string) *sql.DB {
	t.Helper()
	db, err := sql.Open(s.sql, s.dsn(addr))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// open opens a client at an address, with more parameters.
func (s server) open(t testing.TB, addr string, more ...string) driver.Driver {
	t.Helper()
	url := s.url(addr) + "?layout=shedlock"
	for _, m := range more {
		url += "&" + m
	}
	d, err := driver.Open(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return d
}

func TestDriver(t *testing.T) {
	t.Parallel() // so that the others, which take less time, come first
	for _, s := range all {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel() // most of it waits
			addr := s.begin(t).Addr
			drivertest.Run(t, drivertest.Harness{
				Open: func(t testing.TB) driver.Driver { return s.open(t, addr) },
				TTL:  2 * time.Second,
				Long: 2 * time.Minute,
			})
		})
	}
}

func migrate(t testing.TB, url string) error { return sqllock.MigrateURL(t.Context(), url) }
