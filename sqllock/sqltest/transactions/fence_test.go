package transactions

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/fence"
	"github.com/holdfast-go/holdfast/internal/fencetest"
)

// fenced is a database in which fence.SQL works.
func fenced(t testing.TB, d database) *sql.DB {
	t.Helper()
	return d.with(t, fence.Migrate)
}

// write writes a token in a fenced transaction.
func write(ctx context.Context, db *sql.DB, resource string, token uint64) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := fence.SQL(ctx, tx, resource, token); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, fmt.Sprintf("INSERT INTO writes (token) VALUES (%d)", token)); err != nil {
		return err
	}
	return tx.Commit()
}

func fenceRefuses(t *testing.T, d database) {
	dsns := []string{""}
	if d.driver == "mysql" {
		dsns = append(dsns, "?clientFoundRows=true")
	}
	for _, parameters := range dsns {
		d := d
		d.dsn += parameters
		db := fenced(t, d)
		execute(t, db,
			"DROP TABLE IF EXISTS writes", "CREATE TABLE writes (id INTEGER, token BIGINT)",
			"DELETE FROM holdfast_resources")
		r := fencetest.Trial{T: t, Use: func(resource string, token uint64) error {
			return write(t.Context(), db, resource, token)
		}}
		r.Admits("a", 1<<53+1)
		r.Admits("a", 1<<53+1)
		r.Refuses("a", 1<<53)
		r.Admits("A", 5) // names are bytes
		r.Admits("a ", 5)
		r.Admits("😀'--", 5)
		r.Admits(strings.Repeat("n", 1024), 5)
		r.Admits("a", 1<<53+2)
		r.Refuses("a", 1<<53+1)
		r.Admits("a", fence.MaxToken)
		r.Refuses("a", fence.MaxToken-1)
		mustEqual(t, "writes", number(t, db, "SELECT count(*) FROM writes"), 8)
		for _, wrong := range []uint64{0, fence.MaxToken + 1} {
			if err := write(t.Context(), db, "a", wrong); err == nil || errors.Is(err, fence.ErrStale) {
				t.Errorf("token %d: %v", wrong, err)
			}
		}
		for _, wrong := range []string{"", strings.Repeat("n", 1025)} {
			if err := write(t.Context(), db, wrong, 5); err == nil {
				t.Errorf("a resource with a name of %d bytes is admitted", len(wrong))
			}
		}
	}
}

// A token that was admitted counts only once it is committed.
func fenceRollsBack(t *testing.T, d database) {
	db := fenced(t, d)
	execute(t, db, "CREATE TABLE writes (token BIGINT)")
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(fence.SQL(t.Context(), tx, "a", 9), tx.Rollback()); err != nil {
		t.Fatal(err)
	}
	if err := write(t.Context(), db, "a", 8); err != nil {
		t.Errorf("after a rollback: %v", err)
	}
}

// The old holder has checked its token and not yet committed: the new one is admitted only after that.
func fenceWaits(t *testing.T, d database) {
	db := fenced(t, d)
	execute(t, db, "CREATE TABLE writes (token BIGINT)")
	if err := write(t.Context(), db, "a", 1); err != nil {
		t.Fatal(err)
	}
	old, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := fence.SQL(t.Context(), old, "a", 2); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- write(patiently(t), db, "a", 3) }()
	if err := awaitWaiter(patiently(t), d, db); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		t.Errorf("the new holder was admitted while the old one could still commit: %v", err)
	default:
	}
	if err := errors.Join(old.Commit(), <-ended); err != nil {
		t.Fatal(err)
	}
	if err := write(t.Context(), db, "a", 2); !errors.Is(err, fence.ErrStale) {
		t.Errorf("the old holder again: %v", err)
	}
}

// First tokens of many resources at the same time are no deadlock.
func fenceFirstUse(t *testing.T, d database) {
	db := d.open(t)
	execute(t, db, "CREATE TABLE writes (token BIGINT)")
	const many = 16
	ended := make(chan error)
	for range many {
		go func() {
			ended <- fence.Migrate(t.Context(), db)
		}()
	}
	for range many {
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
	}
	for i := range many {
		go func() {
			var err error
			for j := 0; j < 10 && err == nil; j++ {
				err = write(patiently(t), db, fmt.Sprintf("%d/%d", j, i/2), uint64(100+i/2))
			}
			ended <- err
		}()
	}
	for range many {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

func fenceWithoutTable(t *testing.T, d database) {
	db := d.open(t)
	if err := write(t.Context(), db, "a", 1); err == nil || !strings.Contains(err.Error(), "fence.Migrate") {
		t.Errorf("without the table it does not say what to do: %v", err)
	}
}
