package claimstest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
)

// A renewal is one of a batch, and what is answered about it.
type renewal struct {
	what  string
	claim driver.Claim
	err   error
	want  driver.Status // its Retry is right if it is no longer than that of the one it waits for
}

// One statement is about many claims, and answers about each what is true of that one.
func testRenewalsTogether(t *testing.T, s Store) {
	d, other, db := s.client(t), s.client(t), s.admin(t)
	var batch []renewal
	add := func(what string, c driver.Claim, err error, want driver.Status) {
		want.Token, want.TTL = c.Token, c.TTL
		if err != nil {
			want = driver.Status{}
		}
		batch = append(batch, renewal{what, c, err, want})
	}
	lock := func(name string) driver.Claim { return mutex(t.Name() + " " + name) }

	add("a holder alone", request(t, d, lock("alone"), true), nil, driver.Status{Granted: true})
	held := request(t, d, lock("line"), true)
	next, last := request(t, d, lock("line"), false), request(t, d, lock("line"), false)
	add("the last in line", last, nil, driver.Status{})
	add("the next in line", next, nil, driver.Status{Retry: held.TTL, Contended: true})
	add("a holder with a line", held, nil, driver.Status{Granted: true, Contended: true})
	strange := held
	strange.Token++
	add("a wrong token", strange, driver.ErrGone, driver.Status{})
	quoted := lock("quotes")
	quoted.ID = `"\n\` + quoted.ID
	add("an ID with quotes", request(t, d, quoted, true), nil, driver.Status{Granted: true})

	readers := lock("readers")
	readers.Limit = driver.All
	first := request(t, d, readers, true)
	readers.ID += "2"
	add("the first of two readers", first, nil, driver.Status{Granted: true, Contended: true})
	add("the second of two readers", request(t, d, readers, true), nil, driver.Status{Granted: true})

	gone := request(t, d, lock("gone"), true)
	release(t, other, gone)
	add("one that was released", gone, driver.ErrGone, driver.Status{})
	expired := queued(t, d, lock("expired"))
	change(t, db, fmt.Sprintf("UPDATE holdfast_claims SET deadline = 1 WHERE id = '%s'", expired.ID))
	add("one that has expired", expired, driver.ErrGone, driver.Status{})
	over := request(t, d, lock("over"), true)
	change(t, db, fmt.Sprintf("UPDATE holdfast_locks SET deadline = 1 WHERE id = '%s'", over.ID))
	add("one that has expired alone", over, driver.ErrGone, driver.Status{})
	revoked := request(t, d, lock("revoked"), true)
	if err := other.Revoke(t.Context(), revoked.Name, revoked.ID); err != nil {
		t.Fatal(err)
	}
	add("one that was revoked", revoked, nil, driver.Status{Granted: true, Revoked: true})

	passed := request(t, other, lock("noted"), true)
	heir := request(t, d, lock("noted"), false)
	release(t, other, passed)
	s.wantNoted(t, passed)
	add("one that was only noted as released", passed, driver.ErrGone, driver.Status{})
	add("the one behind it", heir, nil, driver.Status{Granted: true})

	shorter := request(t, d, lock("shorter"), true)
	shorter.TTL /= 2
	add("one whose TTL becomes shorter", shorter, nil, driver.Status{Granted: true})
	left := request(t, d, lock("left"), true)
	left.Detached = true
	add("one that is left alone", left, nil, driver.Status{Granted: true})

	changeAll(t, db, s.Rival.Prepare)
	busy := queued(t, d, lock("busy"))
	tx := s.rival(t, db)
	defer tx.Rollback()
	execute(t, tx, fmt.Sprintf("SELECT token FROM holdfast_claims WHERE name = '%s' FOR UPDATE", busy.Name))
	add("one whose row is taken", busy, errBusyRow, driver.Status{})

	for range 2 { // the second answers like the first
		renewTogether(t, d, batch)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	stale := left
	stale.Detached, stale.TTL = false, time.Hour
	result := renewTogether(t, d, []renewal{{"a late renewal of what was left alone", stale, nil,
		driver.Status{Token: left.Token, Granted: true, TTL: left.TTL}}})[0]
	if result.Status.TTL > left.TTL {
		t.Errorf("a late renewal gave what was left alone %v to live, want %v at most", result.Status.TTL, left.TTL)
	}
	ends := fmt.Sprintf("SELECT COUNT(*) FROM holdfast_ends WHERE id = '%s'", shorter.ID)
	if number(t, db, ends) != 1 {
		t.Error("the ID of the claim whose TTL became shorter is not barred for the longer one")
	}
	change(t, db, "DELETE FROM holdfast_claims")
}

// errBusyRow stands for any error that is no answer.
var errBusyRow = errors.New("any error but ErrGone and ErrRefused")

func renewTogether(t *testing.T, d *drivertest.Facade, batch []renewal) []driver.Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	claims := make([]driver.Claim, len(batch))
	for i, r := range batch {
		claims[i] = r.claim
	}
	results, err := d.Renew(ctx, claims)
	if err != nil {
		t.Fatalf("Renew: %v", err)
	}
	for i, r := range batch {
		r.check(t, results[i])
	}
	return results
}

// check expects an answer. What a claim has left to live, if that is all that is answered, is less than it had.
func (r renewal) check(t *testing.T, got driver.Result) {
	t.Helper()
	if r.err != nil {
		isAnswer := errors.Is(got.Err, driver.ErrGone) || errors.Is(got.Err, driver.ErrRefused)
		if got.Err == nil || r.err == errBusyRow && isAnswer || r.err != errBusyRow && !errors.Is(got.Err, r.err) {
			t.Errorf("%s: %+v, want an error: %v", r.what, got, r.err)
		}
		return
	}
	st, want := got.Status, r.want
	if st.Retry > 0 && st.Retry <= want.Retry {
		st.Retry = want.Retry
	}
	if st.TTL < want.TTL && st.TTL > want.TTL-time.Minute {
		st.TTL = want.TTL
	}
	if got.Err != nil || st != want {
		t.Errorf("%s: %+v, want %+v", r.what, got, want)
	}
}
