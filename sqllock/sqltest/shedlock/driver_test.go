package shedlock

import (
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/internal/effort"
	"github.com/holdfast-go/holdfast/internal/opened"
	"github.com/holdfast-go/holdfast/internal/servers"
	"github.com/holdfast-go/holdfast/sqllock"

	_ "github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"
)

// A server is one that may have ShedLock's table.
type server struct {
	servers.Database
	table string // the statement that makes the table, as ShedLock's documentation has it
}

var all = []server{
	{servers.Databases[0], "CREATE TABLE shedlock(name VARCHAR(64) NOT NULL, lock_until TIMESTAMP(3) NOT NULL," +
		" locked_at TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3)," +
		" locked_by VARCHAR(255) NOT NULL, PRIMARY KEY (name))"},
	{servers.Databases[1], "CREATE TABLE shedlock(name VARCHAR(64) NOT NULL, lock_until TIMESTAMP NOT NULL," +
		" locked_at TIMESTAMP NOT NULL, locked_by VARCHAR(255) NOT NULL, PRIMARY KEY (name))"},
}

// patience bounds what a test waits for.
const patience = time.Minute

// begin starts a server that has both tables.
func (s server) begin(t testing.TB, args ...string) *servers.Server {
	t.Helper()
	running := s.Start(t, append(s.Room, args...)...)
	if err := sqllock.MigrateURL(t.Context(), s.URL(running.Addr)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Pool(t, running.Addr).ExecContext(t.Context(), s.table); err != nil {
		t.Fatal(err)
	}
	return running
}

// open opens a client at an address, with more parameters.
func (s server) open(t testing.TB, addr string, more ...string) *drivertest.Facade {
	t.Helper()
	url := s.URL(addr) + "?layout=shedlock"
	for _, m := range more {
		url += "&" + m
	}
	return opened.Driver(t, url)
}

// behindSender opens a client whose operations go through a Sender, one by one or together.
func (s server) behindSender(t testing.TB, addr string, inFlight int) *drivertest.Facade {
	d := drivertest.Gather(s.open(t, addr), inFlight, inFlight)
	f := drivertest.NewFacade(d)
	t.Cleanup(func() { f.Close() })
	return f
}

func TestDriver(t *testing.T) {
	effort.Raced(t)
	t.Parallel() // so that the others, which take less time, come first
	for i, s := range all {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel() // most of it waits
			addr := s.begin(t).Addr
			drivertest.Run(t, drivertest.Harness{
				Open: func(t testing.TB) driver.Driver { return s.behindSender(t, addr, i) }, // 0: one by one
				TTL:  2 * time.Second,
				Long: 2 * time.Minute,
			})
		})
	}
}

func migrate(t testing.TB, url string) error { return sqllock.MigrateURL(t.Context(), url) }
