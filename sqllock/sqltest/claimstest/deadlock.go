package claimstest

import (
	"context"
	"database/sql"
	"fmt"
	"testing"

	"github.com/holdfast-go/holdfast/driver"
)

// A Rival is a transaction of another program that gets in the way of requests.
type Rival struct {
	Prepare []string // makes what it needs, and has the server look for deadlocks at once
	Undo    []string // leaves the server as it was
	Begin   []string // makes it the one that survives when it and another wait for each other
	Blocked string   // a query for the number of transactions that wait for a row
	// Ended is a query for the number of statements that the server has ended since they waited for a row for long. It
	// is empty if the server never does.
	Ended string
}

// What the server ends, because it and another transaction wait for each other, or because it waits for long, is done
// again: the caller sees neither that nor a free lock as taken.
func testDeadlock(t *testing.T, s Store) {
	db, d := s.admin(t), s.client(t)
	changeAll(t, db, s.Rival.Prepare)
	t.Cleanup(func() { changeAll(t, db, s.Rival.Undo) })
	held := request(t, d, mutex(t.Name()), true)
	next := request(t, d, mutex(t.Name()), false) // so that both are queued, in rows beside that of the lock
	s.collide(t, db, "a renewal", func(ctx context.Context) error {
		st, err := d.Request(ctx, held)
		return orTaken(st, err)
	})
	s.collide(t, db, "a release", func(ctx context.Context) error { return d.Release(ctx, held) })
	release(t, d, next)
	s.block(t, db, "a try", func(ctx context.Context) error {
		st, err := d.Request(ctx, tryOnly(mutex(t.Name())))
		return orTaken(st, err)
	})
}

func orTaken(st driver.Status, err error) error {
	if err == nil && !st.Granted {
		return fmt.Errorf("the answer is %+v, want granted", st)
	}
	return err
}

// collide lets ask and another transaction wait for each other. When the other goes on, the server has ended ask's.
func (s Store) collide(t *testing.T, db *sql.DB, what string, ask func(context.Context) error) {
	t.Helper()
	tx := s.rival(t, db)
	defer tx.Rollback()
	execute(t, tx, "SELECT token FROM holdfast_claims WHERE name = '"+t.Name()+"' FOR UPDATE")
	answer := s.ask(t, db, ask)
	execute(t, tx, "SELECT token FROM holdfast_locks WHERE name = '"+t.Name()+"' FOR UPDATE")
	finish(t, tx, what, answer)
}

// block lets ask wait for another transaction for longer than the server does.
func (s Store) block(t *testing.T, db *sql.DB, what string, ask func(context.Context) error) {
	t.Helper()
	tx := s.rival(t, db)
	defer tx.Rollback()
	execute(t, tx, "SELECT token FROM holdfast_locks WHERE name = '"+t.Name()+"' FOR UPDATE")
	ended := s.ended(t, db)
	answer := s.ask(t, db, ask)
	if s.Rival.Ended != "" {
		eventually(t, "the server ends it", func() bool { return s.ended(t, db) > ended })
	}
	finish(t, tx, what, answer)
}

func (s Store) ended(t *testing.T, db *sql.DB) int64 {
	if s.Rival.Ended == "" {
		return 0
	}
	return number(t, db, s.Rival.Ended)
}

func (s Store) rival(t *testing.T, db *sql.DB) *sql.Tx {
	t.Helper()
	tx, err := db.BeginTx(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range s.Rival.Begin {
		execute(t, tx, statement)
	}
	return tx
}

// ask returns when the request waits for a row.
func (s Store) ask(t *testing.T, db *sql.DB, ask func(context.Context) error) <-chan error {
	t.Helper()
	answer := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		answer <- ask(ctx)
	}()
	eventually(t, "it waits for a row", func() bool { return number(t, db, s.Rival.Blocked) == 1 })
	return answer
}

func finish(t *testing.T, tx *sql.Tx, what string, answer <-chan error) {
	t.Helper()
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := <-answer; err != nil {
		t.Errorf("%s: %v", what, err)
	}
}

// execute runs a statement to its end.
func execute(t *testing.T, tx *sql.Tx, statement string) {
	t.Helper()
	if _, err := tx.Exec(statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}
