// Package claimstest tests claims in a database server: what the contract says, and what only a server can suffer. Its
// tests run on each kind of server that a folder beside it starts.
package claimstest

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/internal/claimed"
	"github.com/holdfast-go/holdfast/internal/opened"
	"github.com/holdfast-go/holdfast/internal/servers"
	"github.com/holdfast-go/holdfast/sqllock"
)

// A Store is a server with an empty database.
type Store struct {
	*servers.Server
	Dialect *sqllock.Dialect
	URL     func(addr string) string // of the database, at this address
	Source  func(addr string) string // the same for database/sql
	SQL     string                   // the name of its driver there

	Empty     []string                          // empties the database
	Schema    string                            // an expression for where the tables are
	Routines  string                            // a query for statements that drop the routines
	Names     func(prefix string, n int) string // a statement that makes up to a million locks, in use just before
	Queue     func(name string, n int) string   // a statement that queues so many mutexes, with the tokens from 1 on
	Analyze   []string                          // makes the server look at the tables again, after great changes
	RowsRead  func(testing.TB, *sql.DB) int64   // how many rows the server has read in our tables
	Other     []string                          // makes the routine that tells the revision say 1000
	Client    func(addr string) []string        // a command that reads a script
	Stranger  []string                          // makes a user "stranger", password "secret", without rights on tables
	Settings  []Setting
	Sessions  string                     // a query for the number of sessions, but for the one that asks
	Sleeping  string                     // a query for the number of those that wait for a wake lock, or by the clock
	WakeLock  func(id, of string) string // a query for whether somebody has that wake lock of a claim: 1 or 0
	KillAll   func(testing.TB, *sql.DB)  // ends those sessions, in the server
	Gate      Gate
	Rival     Rival
	Faults    Faults
	Wordy     []string // makes the server log who waits for long
	Noise     string   // a pattern of lines that it then logs of who waits, or is cut off
	Slow      Slow
	Deadlocks string // a query for the number of transactions that were ended since they waited for each other
}

// patience ends what hangs: nothing takes so long, also where others keep the machine busy.
const patience = 2 * time.Minute

// longTTL is for claims whose TTL must not be what ends them.
const longTTL = 10 * time.Minute

// migrated makes the tables.
func (s Store) migrated(t testing.TB) Store {
	t.Helper()
	if err := sqllock.MigrateURL(t.Context(), s.URL(s.Addr)); err != nil {
		t.Fatal(err)
	}
	return s
}

// client opens a new client, which is closed with the test.
func (s Store) client(t testing.TB) *drivertest.Facade { return s.clientAt(t, s.Addr) }

// clientAt is client, over a proxy at this address.
func (s Store) clientAt(t testing.TB, addr string) *drivertest.Facade {
	t.Helper()
	return opened.Driver(t, s.URL(addr))
}

// admin opens the database as any other program would.
func (s Store) admin(t testing.TB) *sql.DB {
	t.Helper()
	db, err := sql.Open(s.SQL, s.Source(s.Addr))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// number asks the database for one.
func number(t testing.TB, db *sql.DB, query string) (n int64) {
	t.Helper()
	if err := db.QueryRow(query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// change runs a statement behind the driver's back.
func change(t testing.TB, db *sql.DB, statement string) {
	t.Helper()
	if _, err := db.Exec(statement); err != nil {
		t.Fatal(err)
	}
}

// mutex returns a claim that waits for a lock of one.
func mutex(name string) driver.Claim { return claimed.Mutex(name, longTTL) }

// request requests c, which must end up granted or waiting as wanted, and returns it with its token.
func request(t testing.TB, d claimed.Requester, c driver.Claim, granted bool) driver.Claim {
	t.Helper()
	c.Token = claimed.Ask(t, d, c, granted).Token
	return c
}

var release = claimed.Release

// queued requests c, which must be granted, and has another claim wait behind it for a moment. From then on c is in a
// queue, and no longer in the row of its lock.
func queued(t testing.TB, d claimed.Requester, c driver.Claim) driver.Claim {
	t.Helper()
	c = request(t, d, c, true)
	release(t, d, request(t, d, mutex(c.Name), false))
	return c
}

// await waits until c is granted, as a caller does: by Wait, and by asking again when Wait says so or fails.
func await(t testing.TB, d claimed.Driver, c driver.Claim) driver.Status {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for {
		st, err := d.Wait(ctx, c)
		if err != nil && !errors.Is(err, driver.ErrGone) || st == (driver.Status{}) {
			st, err = d.Request(ctx, c)
		}
		switch {
		case errors.Is(err, driver.ErrGone) || ctx.Err() != nil:
			t.Fatalf("waiting for %s: %v, %v", c.ID, err, ctx.Err())
		case err == nil && st.Granted:
			return st
		}
	}
}

// eventually asks until ok says yes.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); driver.Sleep(context.Background(), 10*time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it did not happen: %s", what)
		}
	}
}

// open makes a driver on a database that the test has opened.
func (s Store) open(t testing.TB, db *sql.DB) *drivertest.Facade {
	t.Helper()
	d, err := drivertest.Wrap(sqllock.New(context.Background(), db, s.Dialect, nil))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}
