package sessions

import (
	"errors"
	"os"
	"strings"
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

// A server is one with locks of sessions.
type server struct{ servers.Database }

var all = []server{{servers.Databases[0]}, {servers.Databases[1]}}

// url is the URL of the server's own locks.
func (s server) url(addr string) string { return s.URL(addr) + "?mode=session" }

// patience ends what hangs: nothing takes so long, also where others keep the machine busy.
const patience = 2 * time.Minute

// isTooOld reports whether tests were asked to run on PostgreSQL 12 or 13, which ends no idle sessions.
func (s server) isTooOld() bool {
	v, _ := servers.Named(os.Getenv("HOLDFAST_EXTRA"))
	return s.Name == "postgres" && (v.Name == "postgres-12" || v.Name == "postgres-13")
}

// A server that is too old refuses, and the error says what to do.
func TestTooOld(t *testing.T) {
	for _, s := range all {
		t.Run(s.Name, func(t *testing.T) {
			if !s.isTooOld() {
				t.Skip("for HOLDFAST_EXTRA=postgres-12 or postgres-13")
			}
			_, err := drivertest.Open(t.Context(), s.url(s.migrated(t).Addr))
			if !errors.Is(err, driver.ErrRefused) || !strings.Contains(err.Error(), "PostgreSQL 14 or newer") {
				t.Errorf("it says %v", err)
			}
		})
	}
}

// migrated starts a server that has the tables.
func (s server) migrated(t testing.TB) *servers.Server {
	t.Helper()
	running := s.Start(t, s.Room...)
	if err := sqllock.MigrateURL(t.Context(), s.url(running.Addr)); err != nil {
		t.Fatal(err)
	}
	return running
}

// open opens a client at an address.
func (s server) open(t testing.TB, addr string) *drivertest.Facade {
	t.Helper()
	return opened.Driver(t, s.url(addr))
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
			if s.isTooOld() {
				t.Skip("TestTooOld is about this version")
			}
			t.Parallel() // most of it waits
			addr := s.migrated(t).Addr
			drivertest.Run(t, drivertest.Harness{
				Open: func(t testing.TB) driver.Driver { return s.behindSender(t, addr, i) }, // 0: one by one
				TTL:  3 * time.Second,
				Long: 2 * time.Minute, // each claim opens a connection
			})
		})
	}
}
