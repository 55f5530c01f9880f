package postgres

import (
	"crypto/rand"
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/internal/servers"
	"github.com/holdfast-go/holdfast/sqllock"
)

// migrated returns a client of a server with tables, and the database as others see it.
func migrated(t *testing.T, server *servers.Server) (*drivertest.Facade, *sql.DB) {
	t.Helper()
	url := "postgres://postgres@" + server.Addr + "/postgres?sslmode=disable"
	if err := sqllock.MigrateURL(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	d, err := drivertest.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	db, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return d, db
}

// A renewal writes a new version of its row beside the old one, and no index: nothing grows with the time
// that a lock is held.
func TestRenewalsAreHOT(t *testing.T) {
	const locks, rounds = 200, 20
	d, db := migrated(t, servers.Postgres(t))
	var held []driver.Claim
	for i := range locks { // half of them in the row of the lock, and half of them queued
		c := driver.Claim{Name: fmt.Sprint("lock ", i), ID: rand.Text(), Weight: 1, Limit: 2, TTL: time.Minute}
		if i >= locks/2 {
			c.Name = fmt.Sprint("lock ", locks/2+i/2)
		}
		st, err := d.Request(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		c.Token = st.Token
		held = append(held, c)
	}
	for range rounds {
		if _, err := d.Renew(t.Context(), held); err != nil {
			t.Fatal(err)
		}
	}
	d.Close() // its session then tells what it has counted
	var all, hot int
	for end := time.Now().Add(30 * time.Second); all < rounds*locks && time.Now().Before(end); {
		const updates = "SELECT sum(n_tup_upd), sum(n_tup_hot_upd) FROM pg_stat_user_tables" +
			" WHERE relname IN ('holdfast_claims', 'holdfast_locks')"
		err := db.QueryRow(updates).Scan(&all, &hot)
		if err != nil {
			t.Fatal(err)
		}
	}
	if all < rounds*locks || hot*10 < all*9 {
		t.Errorf("of %d renewals %d updated no index", all, hot)
	}
}

// An old transaction, for which the server keeps what has changed since, is found by Check.
func TestOldTransactionIsTold(t *testing.T) {
	clock := servers.NewClock(t)
	d, db := migrated(t, servers.PostgresAt(t, clock))
	advice := func() string {
		t.Helper()
		findings, err := driver.Check(t.Context(), d, false)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range findings {
			if strings.Contains(f.Fact, "oldest transaction") {
				return f.Advice
			}
		}
		t.Fatalf("findings: %+v", findings)
		return ""
	}
	if got := advice(); got != "" {
		t.Errorf("without a transaction: %q", got)
	}
	tx, err := db.BeginTx(t.Context(), &sql.TxOptions{Isolation: sql.LevelRepeatableRead})
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	var one int
	if err := tx.QueryRow("SELECT count(*) FROM holdfast_locks").Scan(&one); err != nil {
		t.Fatal(err)
	}
	clock.Set(t, time.Hour)
	if got := advice(); !strings.Contains(got, "idle_in_transaction_session_timeout") {
		t.Errorf("with a transaction of an hour: %q", got)
	}
}
