package proof

import (
	"context"
	"database/sql"
	"fmt"
	"testing"

	"github.com/holdfast-go/holdfast/sqllock"
	"github.com/holdfast-go/holdfast/systemtest/nemesis"
)

// numbers are what transactions count in, one for each lock.
type numbers struct{ db *sql.DB }

// newNumbers makes those of a schedule, which are zero. They last until the test ends.
func newNumbers(t testing.TB, store *nemesis.Store, s Schedule) numbers {
	t.Helper()
	locks := s.transacted()
	if len(locks) == 0 {
		return numbers{}
	}
	if store.Database == nil {
		t.Fatalf("there is no database for %v on %s", locks, store.Name)
	}
	place := store.Database(store.Addrs)
	db, err := sql.Open(place.Driver, place.Source)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	if err := sqllock.MigrateInTx(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	statements := []string{
		"CREATE TABLE IF NOT EXISTS proof_numbers (lock_name VARCHAR(64) PRIMARY KEY, n BIGINT NOT NULL)",
		"DELETE FROM proof_numbers",
	}
	for _, lock := range locks {
		statements = append(statements, fmt.Sprintf("INSERT INTO proof_numbers VALUES ('%s', 0)", lock))
	}
	for _, statement := range statements {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	return numbers{db}
}

// read returns the numbers, when transactions that are under way are over. A lock that stays taken for longer than one
// that nobody renews is left.
func (n numbers) read(t testing.TB, s Schedule, left map[string]string) map[string]int64 {
	values := make(map[string]int64)
	for _, lock := range s.transacted() {
		ctx, cancel := context.WithTimeout(t.Context(), 2*s.TTL+restTime)
		err := sqllock.InTx(ctx, n.db, lock, func(ctx context.Context, tx *sql.Tx) (err error) {
			values[lock], err = numberOf(ctx, tx, lock)
			return err
		})
		cancel()
		if err != nil {
			left[lock] = fmt.Sprintf("its number cannot be read: %v", err)
		}
	}
	return values
}

// numberOf reads the number of a lock.
func numberOf(ctx context.Context, tx *sql.Tx, lock string) (n int64, err error) {
	// No row is locked by that: nothing but the lock keeps two from reading the same.
	query := fmt.Sprintf("SELECT n FROM proof_numbers WHERE lock_name = '%s'", lock)
	return n, tx.QueryRowContext(ctx, query).Scan(&n)
}
