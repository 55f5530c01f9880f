package sessiontest

import (
	"context"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/internal/servers"
	"github.com/holdfast-go/holdfast/sqllock"

	_ "github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"
)

// A server is one with locks of sessions.
type server struct {
	name  string
	start func(testing.TB, ...string) *servers.Server
	room  []string // arguments for many connections
	url   func(addr string) string
	sql   string                   // the name of the database/sql driver
	dsn   func(addr string) string // for it
}

var all = []server{
	{
		name: "mariadb", start: servers.MariaDB, sql: "mysql",
		room: []string{"--max-connections=2000"},
		url:  func(addr string) string { return "mysql://root@" + addr + "/test?mode=session" },
		dsn:  func(addr string) string { return "root@tcp(" + addr + ")/test" },
	},
	{
		name: "postgres", start: servers.Postgres, sql: "pgx",
		room: []string{"-c", "max_connections=1000"},
		url:  func(addr string) string { return "postgres://postgres@" + addr + "/postgres?mode=session" },
		dsn:  func(addr string) string { return "postgres://postgres@" + addr + "/postgres" },
	},
}

// patience bounds what a test waits for.
const patience = 30 * time.Second

// migrated starts a server that has the tables.
func (s server) migrated(t testing.TB) *servers.Server {
	t.Helper()
	running := s.start(t, s.room...)
	if err := sqllock.MigrateURL(t.Context(), s.url(running.Addr)); err != nil {
		t.Fatal(err)
	}
	return running
}

// open opens a client at an address.
func (s server) open(t testing.TB, addr string) driver.Driver {
	t.Helper()
	d, err := driver.Open(context.Background(), s.url(addr))
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
			addr := s.migrated(t).Addr
			drivertest.Run(t, drivertest.Harness{
				Open: func(t testing.TB) driver.Driver { return s.open(t, addr) },
				TTL:  3 * time.Second,
				Long: 2 * time.Minute, // each claim opens a connection
			})
		})
	}
}
