package postgres

import (
	"context"
	"database/sql"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/internal/servers"
	"github.com/holdfast-go/holdfast/sqllock"
)

// A driver on a pgxpool of the caller's gives no connection back that it has changed: neither settings nor locks of
// the session stay in it.
func TestPgxPool(t *testing.T) {
	server := servers.Postgres(t)
	_, direct := migrated(t, server)
	for _, mode := range []sqllock.Mode{sqllock.Claims, sqllock.Session} {
		t.Run(string(mode), func(t *testing.T) {
			url := "postgres://postgres@" + server.Addr + "/postgres?sslmode=disable&pool_max_conns=6"
			pool, err := pgxpool.New(t.Context(), url)
			if err != nil {
				t.Fatal(err)
			}
			defer pool.Close()
			useUp(t, stdlib.OpenDBFromPool(pool), mode)
			awaitNoLocks(t, direct)
			for range 6 {
				conn, err := pool.Acquire(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				defer conn.Release()
				var changed int
				const settings = "SELECT count(*) FROM pg_settings WHERE source = 'session'"
				err = conn.QueryRow(t.Context(), settings).Scan(&changed)
				if err != nil || changed > 0 {
					t.Errorf("a connection of the pool has %d settings that were changed, %v", changed, err)
				}
			}
		})
	}
}

// useUp passes a lock on, renews it, and closes the driver while the lock is held.
func useUp(t *testing.T, db *sql.DB, mode sqllock.Mode) {
	t.Helper()
	defer db.Close()
	d, err := drivertest.Wrap(sqllock.New(t.Context(), db, sqllock.Postgres, &sqllock.Options{Mode: mode}))
	if err != nil {
		t.Fatal(err)
	}
	held, next := acquire(t, d, claim()), claim()
	st, err := d.Request(t.Context(), next)
	if err != nil {
		t.Fatal(err)
	}
	next.Token = st.Token
	granted := make(chan error, 1)
	go func() {
		_, err := d.Wait(context.WithoutCancel(t.Context()), next)
		granted <- err
	}()
	release(t, d, held)
	if err := <-granted; err != nil {
		t.Errorf("Wait: %v", err)
	}
	acquire(t, d, next)
	if err := d.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
}

// awaitNoLocks waits until no session has a lock, those of the pool among them.
func awaitNoLocks(t *testing.T, db *sql.DB) {
	t.Helper()
	var left int
	const pause = 10 * time.Millisecond
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); driver.Sleep(t.Context(), pause) {
		if err := db.QueryRow("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'").Scan(&left); err != nil {
			t.Fatal(err)
		}
		if left == 0 {
			return
		}
	}
	t.Errorf("%d locks are held by connections of the pool", left)
}
