package transactions

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/sqllock"
)

// begin begins a transaction that ends with the test, if not before.
func begin(t *testing.T, db *sql.DB) *sql.Tx {
	t.Helper()
	// MySQL locks only what it finds under this isolation.
	tx, err := db.BeginTx(t.Context(), &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tx.Rollback() })
	return tx
}

// ids locks rows until the test ends, or it fails, and returns their ids as text.
func ids(t *testing.T, db *sql.DB, how sqllock.RowLock, where string) (found string, err error) {
	t.Helper()
	tx := begin(t, db)
	defer func() {
		if err != nil {
			tx.Rollback()
		}
	}()
	rows, err := sqllock.ForUpdate(t.Context(), tx, how, "SELECT id FROM seats "+where+" ORDER BY id")
	if err != nil {
		return "", err
	}
	defer rows.Close()
	for rows.Next() {
		var id int
		if err := rows.Scan(&id); err != nil {
			return "", err
		}
		found += fmt.Sprint(id)
	}
	return found, rows.Err()
}

func forUpdateOwnRows(t *testing.T, d database) {
	db := d.open(t)
	execute(t, db, "CREATE TABLE seats (id INT PRIMARY KEY)", "INSERT INTO seats VALUES (1), (2), (3), (4)")
	for _, row := range []struct {
		how   sqllock.RowLock
		where string
		want  string
		taken bool
	}{
		{sqllock.Exclusive, "WHERE id = 2", "2", false},
		{sqllock.Share, "WHERE id = 4", "4", false},
		{sqllock.Share | sqllock.NoWait, "WHERE id = 4", "4", false},
		{sqllock.NoWait, "WHERE id = 2", "", true},
		{sqllock.NoWait, "WHERE id IN (1, 2)", "", true},
		{sqllock.Share | sqllock.NoWait, "WHERE id = 2", "", true},
		{sqllock.Share | sqllock.SkipLocked, "WHERE id IN (2, 4)", "4", false},
		{sqllock.SkipLocked, "", "13", false},
		{sqllock.NoWait, "WHERE id = 5", "", false},
	} {
		got, err := ids(t, db, row.how, row.where)
		isTaken := errors.Is(err, holdfast.ErrNotAcquired)
		if isTaken != row.taken || !isTaken && (err != nil || got != row.want) {
			t.Errorf("lock %d %s: %q, %v", row.how, row.where, got, err)
		}
	}
}

// Of two who want the rows of each other, one is told so in words that InTx and callers understand.
func forUpdateDeadlock(t *testing.T, d database) {
	db := d.open(t)
	execute(t, db, "CREATE TABLE seats (id INT PRIMARY KEY)", "INSERT INTO seats VALUES (1), (2)")
	var met sync.WaitGroup
	met.Add(2)
	ended := make(chan error, 2)
	for i := range 2 {
		tx := begin(t, db)
		go func() {
			mine, other := i+1, 2-i
			err := lockSeat(patiently(t), tx, mine)
			met.Done()
			met.Wait()
			if err == nil {
				err = lockSeat(patiently(t), tx, other)
			}
			tx.Rollback()
			ended <- err
		}()
	}
	first, second := <-ended, <-ended
	if first == nil {
		first, second = second, first
	}
	mustNotAcquire(t, first)
	if second != nil {
		t.Errorf("both failed; the second with %v", second)
	}
}

func lockSeat(ctx context.Context, tx *sql.Tx, id int) error {
	rows, err := sqllock.ForUpdate(ctx, tx, sqllock.Exclusive, fmt.Sprintf("SELECT id FROM seats WHERE id = %d", id))
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
	}
	return rows.Err()
}

func TestForUpdateOnSQLite(t *testing.T) {
	db := sqliteFile(t).open(t)
	execute(t, db, "CREATE TABLE seats (id INT PRIMARY KEY)")
	for _, how := range []sqllock.RowLock{sqllock.Exclusive, sqllock.Share, sqllock.NoWait, sqllock.SkipLocked} {
		if _, err := ids(t, db, how, ""); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("lock %d: %v", how, err)
		}
	}
}
