package postgres

import (
	"crypto/rand"
	"database/sql"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// uses are what a client does with a lock again and again.
var uses = []struct {
	name  string
	soak  int // cycles in a soak
	cycle func(testing.TB, driver.Driver)
}{
	{"alone", 20_000, func(t testing.TB, d driver.Driver) { mustRelease(t, d, mustRequest(t, d, claim())) }},
	{"with a waiter", 2_000, func(t testing.TB, d driver.Driver) {
		held, next := mustRequest(t, d, claim()), claim()
		if _, err := d.Request(t.Context(), next); err != nil {
			t.Fatal(err)
		}
		mustRelease(t, d, held)
		mustRelease(t, d, mustRequest(t, d, next))
	}},
}

// While a transaction is open whose snapshot is old, nothing can be vacuumed: the rows of all claims that have been are
// still there. A cycle does not read past them.
func TestOldSnapshot(t *testing.T) {
	const more, entries = 50, 50 // cycles that are looked at, and entries of the queue's index that each may read
	server := servers.Postgres(t)
	d, db := migrated(t, server)
	tx, err := db.BeginTx(t.Context(), &sql.TxOptions{Isolation: sql.LevelRepeatableRead})
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	var locks int
	for _, use := range uses {
		rounds := 400
		if os.Getenv("HOLDFAST_SOAK") != "" {
			rounds = use.soak
		}
		fresh := often(t, d, use.cycle, more)
		if err := tx.QueryRow("SELECT count(*) FROM holdfast_locks").Scan(&locks); err != nil {
			t.Fatal(err)
		}
		often(t, d, use.cycle, rounds)
		d.Close()
		before := entriesRead(t, db)
		d, _ = migrated(t, server)
		aged := often(t, d, use.cycle, more)
		d.Close()
		read := (entriesRead(t, db) - before) / more
		d, _ = migrated(t, server)
		t.Logf("%s: p50 is %v, %v after %d cycles, and a cycle reads %d entries", use.name, fresh, aged, rounds, read)
		if read > entries {
			t.Errorf("%s: after %d cycles one reads %d entries of the index, want %d at most",
				use.name, rounds, read, entries)
		}
	}
}

func claim() driver.Claim {
	return driver.Claim{Name: "one", ID: rand.Text(), Weight: 1, Limit: 1, TTL: time.Minute, Queue: true}
}

func mustRequest(t testing.TB, d driver.Driver, c driver.Claim) driver.Claim {
	t.Helper()
	st, err := d.Request(t.Context(), c)
	if err != nil || !st.Granted {
		t.Fatalf("Request: %+v, %v", st, err)
	}
	c.Token = st.Token
	return c
}

func mustRelease(t testing.TB, d driver.Driver, c driver.Claim) {
	t.Helper()
	if err := d.Release(t.Context(), c); err != nil {
		t.Fatalf("Release: %v", err)
	}
}

// often repeats a cycle, and returns how long half of them took at most.
func often(t testing.TB, d driver.Driver, cycle func(testing.TB, driver.Driver), n int) time.Duration {
	t.Helper()
	var took []time.Duration
	for range n {
		began := time.Now()
		cycle(t, d)
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	return took[n/2]
}

// entriesRead counts what sessions have read of the queue's index. They tell that at their end, so it waits for that.
func entriesRead(t testing.TB, db *sql.DB) (n int64) {
	t.Helper()
	const clients = "SELECT count(*) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND query LIKE '%holdfast1%'"
	for end := time.Now().Add(30 * time.Second); ; driver.Sleep(t.Context(), 10*time.Millisecond) {
		var sessions int
		if err := db.QueryRow(clients).Scan(&sessions); err != nil || time.Now().After(end) {
			t.Fatalf("%d sessions of clients, %v", sessions, err)
		}
		if sessions == 0 {
			break
		}
	}
	const reads = "SELECT idx_tup_read FROM pg_stat_user_indexes WHERE indexrelname = 'holdfast_claims_queue'"
	err := db.QueryRow(reads).Scan(&n)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
