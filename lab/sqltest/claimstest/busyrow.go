package claimstest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/holdfast-go/holdfast/driver"
)

// What somebody does to the rows of one lock costs no other lease of the same client, also while a request for that lock waits.
func testBusyRow(t *testing.T, s Store) {
	db, d := s.admin(t), s.client(t)
	busy, free := request(t, d, mutex(t.Name()+" busy"), true), request(t, d, mutex(t.Name()+" free"), true)
	renew := func() []driver.Result {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		results, err := driver.Renew(ctx, d, []driver.Claim{busy, free})
		if err != nil {
			t.Fatalf("Renew: %v", err)
		}
		return results
	}
	renew()
	changeAll(t, db, s.Rival.Prepare)
	tx := s.rival(t, db)
	defer tx.Rollback()
	for _, table := range []string{"locks", "claims"} {
		execute(t, tx, fmt.Sprintf("SELECT token FROM holdfast_%s WHERE name = '%s' FOR UPDATE", table, busy.Name))
	}
	next := mutex(busy.Name)
	answer := s.ask(t, db, func(ctx context.Context) error {
		_, err := d.Request(ctx, next)
		return err
	})
	results := renew()
	if r := results[0]; r.Err == nil || errors.Is(r.Err, driver.ErrGone) || errors.Is(r.Err, driver.ErrRefused) {
		t.Errorf("the claim whose row is taken: %+v, want an error that is no answer", r)
	}
	if r := results[1]; r.Err != nil || !r.Status.Granted {
		t.Errorf("the other claim: %+v", r)
	}
	finish(t, tx, "the request", answer)
	for i, r := range renew() {
		if r.Err != nil || !r.Status.Granted {
			t.Errorf("claim %d afterwards: %+v", i, r)
		}
	}
	release(t, d, free)
	release(t, d, busy)
	release(t, d, next)
}
