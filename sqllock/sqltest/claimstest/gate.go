package claimstest

import (
	"database/sql"
	"fmt"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/internal/pace"
	"github.com/holdfast-go/holdfast/sqllock"
)

// A Gate lets a test stop a routine in the midst of its work: between two looks at the claims.
type Gate struct {
	// Build puts it before the table of claims: who reads that stops while Shut holds, but for the sessions in
	// gate_pass.
	Build []string
	Pass  string // lets all sessions through that exist now
	Shut  string // shuts it, for the session that says so
	Open  string
	// Stopped is a query for the number of sessions that it stops.
	Stopped string
	Raze    []string
}

// A claim that is granted between two looks of its waiter is seen by the second: the waiter does not go to sleep for
// what has happened already.
func testGrantedBetweenLooks(t *testing.T, s Store) {
	db := s.admin(t)
	changeAll(t, db, s.Gate.Build)
	defer changeAll(t, db, s.Gate.Raze)
	for _, noted := range []bool{true, false} {
		pace.Run(t, fmt.Sprint("noted ", noted), func(t *pace.T) {
			var took []time.Duration
			for range 5 {
				took = append(took, s.grantBetweenLooks(t, db, noted))
			}
			wantSoon(t, "to see the grant", took)
		})
	}
}

// grantBetweenLooks stops a waiter while it looks at its own claim, releases the lock, which is only noted or has been
// carried out by another request, and returns how long the waiter then takes to see that it was granted.
func (s Store) grantBetweenLooks(t *pace.T, db *sql.DB, noted bool) time.Duration {
	t.Helper()
	gate, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer gate.Close()
	holder, waiter := s.client(t), s.client(t)
	held, next := request(t, holder, mutex(t.Name()), true), request(t, waiter, mutex(t.Name()), false)
	change(t, db, s.Gate.Pass) // not for the connection on which the waiter is about to wait
	if _, err := gate.ExecContext(t.Context(), s.Gate.Shut); err != nil {
		t.Fatal(err)
	}
	granted := make(chan driver.Status, 1)
	go func() { granted <- await(t, waiter, next) }()
	eventually(t, "the waiter is stopped", func() bool { return number(t, db, s.Sleeping) == 1 })
	release(t, holder, held)
	if !noted {
		request(t, holder, tryOnly(mutex(t.Name())), false)
	}
	began := time.Now()
	if _, err := gate.ExecContext(t.Context(), s.Gate.Open); err != nil {
		t.Fatal(err)
	}
	<-granted
	took := time.Since(began)
	release(t, waiter, next)
	return took
}

// Work in bulk does not take the only connection of the requests: while it stands still, they go on.
func testBulkApart(t *testing.T, s Store) {
	db := s.admin(t)
	changeAll(t, db, s.Gate.Build)
	defer changeAll(t, db, s.Gate.Raze)
	d, err := drivertest.Wrap(sqllock.New(t.Context(), s.admin(t), s.Dialect, &sqllock.Options{Connections: 1}))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	held := request(t, d, mutex(t.Name()), true) // which bulk work looks at
	change(t, db, s.Gate.Pass)                   // for the connection of that request
	gate, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer gate.Close()
	if _, err := gate.ExecContext(t.Context(), s.Gate.Shut); err != nil {
		t.Fatal(err)
	}
	reaped := make(chan error, 1)
	go func() {
		_, err := driver.Reap(t.Context(), d, time.Hour)
		reaped <- err
	}()
	eventually(t, "bulk work is stopped", func() bool { return number(t, db, s.Gate.Stopped) == 1 })
	release(t, d, held)
	if _, err := gate.ExecContext(t.Context(), s.Gate.Open); err != nil {
		t.Fatal(err)
	}
	if err := <-reaped; err != nil {
		t.Error(err)
	}
}

func changeAll(t testing.TB, db *sql.DB, statements []string) {
	t.Helper()
	for _, statement := range statements {
		change(t, db, statement)
	}
}
