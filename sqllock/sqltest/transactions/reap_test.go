package transactions

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/sqllock"
)

// Rows of names that nobody uses go; those that somebody has locked, alone or with others, stay.
func inTxReaped(t *testing.T, d database) {
	db := migrated(t, d)
	if _, err := sqllock.ReapInTx(t.Context(), db, -time.Second); err == nil {
		t.Error("an age below 0 is no error")
	}
	hold(t, db, "first")()
	if d.driver == "sqlite" {
		mustReap(t, db, 0, 0)
		return
	}
	const names = 700 // several steps
	for i := range names {
		execute(t, db, d.insertRow(fmt.Sprint("unused ", i)))
	}
	mustReap(t, db, time.Hour, 0)
	releases := []func(){hold(t, db, "alone"), hold(t, db, "shared", sqllock.Share), hold(t, db, "unused 5")}
	mustReap(t, db, 0, names) // the first, but not the one that is held
	mustEqual(t, "rows", number(t, db, "SELECT count(*) FROM holdfast_rows"), len(releases))
	for i, name := range []string{"alone", "shared", "unused 5"} {
		mustNotAcquire(t, sqllock.InTx(t.Context(), db, name, nothing, sqllock.NoWait))
		releases[i]()
	}
	hold(t, db, "unused 6")()
	inTxReapedByDriver(t, d, db)
}

// A driver reaps them, too, and says what they were.
func inTxReapedByDriver(t *testing.T, d database, db *sql.DB) {
	dialect := map[string]*sqllock.Dialect{"mysql": sqllock.MySQL, "pgx": sqllock.Postgres}[d.driver]
	if err := sqllock.Migrate(t.Context(), db, dialect); err != nil {
		t.Fatal(err)
	}
	locks, err := sqllock.New(t.Context(), db, dialect, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer locks.Close()
	removed, err := driver.Reap(t.Context(), locks, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"alone", "shared", "unused 5", "unused 6"} {
		if !slices.Contains(removed, driver.Leftover{Kind: "row of a transaction", Name: name}) {
			t.Errorf("%q is not among what was removed: %+v", name, removed)
		}
	}
}

func (d database) insertRow(name string) string {
	if d.driver == "pgx" {
		return fmt.Sprintf("INSERT INTO holdfast_rows (name) VALUES ('%s'::bytea)", name)
	}
	return fmt.Sprintf("INSERT INTO holdfast_rows (name) VALUES ('%s')", name)
}

func mustReap(t *testing.T, db *sql.DB, age time.Duration, want int) {
	t.Helper()
	removed, err := sqllock.ReapInTx(patiently(t), db, age)
	if err != nil || removed != want {
		t.Errorf("reaped %d rows, %v; want %d", removed, err, want)
	}
}

// While rows are deleted as soon as nobody has them, a lock still has one holder at a time, and nobody fails.
func inTxCrowdBesideReaping(t *testing.T, d database) {
	const clients, least = 2, 10 // with more of them the row would hardly ever be free
	db := migrated(t, d)
	execute(t, db, "CREATE TABLE data (n INT)", "INSERT INTO data VALUES (0)")
	ctx, cancel := context.WithCancel(patiently(t))
	var reaper, crowd sync.WaitGroup
	var reaped, rounds atomic.Int64
	reaper.Go(func() {
		for ctx.Err() == nil {
			n, err := sqllock.ReapInTx(ctx, db, 0)
			if err != nil && ctx.Err() == nil {
				t.Errorf("ReapInTx: %v", err)
			}
			reaped.Add(int64(n))
		}
	})
	for range clients {
		crowd.Go(func() {
			for reaped.Load() < least && ctx.Err() == nil {
				err := sqllock.InTx(ctx, db, "a", func(ctx context.Context, tx *sql.Tx) error {
					var n int
					if err := tx.QueryRowContext(ctx, "SELECT n FROM data").Scan(&n); err != nil {
						return err
					}
					_, err := tx.ExecContext(ctx, fmt.Sprintf("UPDATE data SET n = %d", n+1))
					return err
				})
				if err != nil {
					t.Errorf("InTx: %v", err)
					return
				}
				rounds.Add(1)
			}
		})
	}
	crowd.Wait()
	cancel()
	reaper.Wait()
	mustEqual(t, "count", number(t, db, "SELECT n FROM data"), int(rounds.Load()))
}
