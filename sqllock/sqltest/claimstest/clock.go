package claimstest

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/bubble"
)

// A client whose clock is years behind takes and keeps a lock like any other, gives the next its token in order, and
// finds a claim expired when the others do: only the server's clock counts.
func testClientClock(t *testing.T, s Store) {
	defer bubble.Alone()()
	right := s.client(t)
	first := request(t, right, mutex(t.Name()), true)
	release(t, right, first)
	var held driver.Claim
	synctest.Test(t, func(t *testing.T) {
		if ahead := first.Token - uint64(time.Now().UnixMicro()); ahead < uint64(time.Hour.Microseconds()) {
			t.Fatalf("this clock says %v", time.Now())
		}
		wrong, err := driver.Open(context.Background(), s.URL(s.Addr))
		if err != nil {
			t.Fatal(err)
		}
		held = request(t, wrong, mutex(t.Name()), true)
		held = request(t, wrong, held, true)
		if err := wrong.Close(); err != nil {
			t.Error(err)
		}
	})
	if held.Token <= first.Token {
		t.Errorf("token %d after %d", held.Token, first.Token)
	}
	next := request(t, right, mutex(t.Name()), false)
	release(t, right, held)
	if st := await(t, right, next); st.Token <= held.Token {
		t.Errorf("token %d after %d", st.Token, held.Token)
	}
}

// A caller's transaction and time zone have nothing to do with the driver's.
func testOwnConnection(t *testing.T, s Store) {
	db := s.admin(t)
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	var one int
	if err := tx.QueryRow("SELECT 1").Scan(&one); err != nil { // its clock stands still from here on
		t.Fatal(err)
	}
	d := s.open(t, db)
	c := mutex(t.Name())
	c.TTL = 500 * time.Millisecond
	request(t, d, c, true)
	await(t, d, request(t, d, mutex(t.Name()), false))
	if err := tx.Rollback(); err != nil {
		t.Errorf("the caller's transaction was ended: %v", err)
	}
}
