package postgres

import (
	"database/sql"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/claimed"
	"github.com/holdfast-go/holdfast/internal/effort"
	"github.com/holdfast-go/holdfast/internal/servers"
	"github.com/holdfast-go/holdfast/sqllock/sqltest/claimstest"
)

// uses are what a client does with a lock again and again.
var uses = []struct {
	name  string
	soak  int // cycles in a soak
	cycle func(testing.TB, claimed.Requester)
}{
	{"alone", 20_000, func(t testing.TB, d claimed.Requester) { release(t, d, acquire(t, d, claim())) }},
	{"with a waiter", 2_000, func(t testing.TB, d claimed.Requester) {
		held, next := acquire(t, d, claim()), claim()
		if _, err := d.Request(t.Context(), next); err != nil {
			t.Fatal(err)
		}
		release(t, d, held)
		release(t, d, acquire(t, d, next))
	}},
}

// While a transaction is open whose snapshot is old, nothing can be vacuumed: the rows of all claims that have been are
// still there. A cycle does not read past them, not even when the statistics say that there are hardly any rows.
func TestOldSnapshot(t *testing.T) {
	const more = 50 // cycles that are looked at
	server := servers.Postgres(t)
	d, db := migrated(t, server)
	tx, err := db.BeginTx(t.Context(), &sql.TxOptions{Isolation: sql.LevelRepeatableRead})
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	doNotSweep(t, db)
	var locks int
	for _, use := range uses {
		rounds := effort.Pick(400, use.soak)
		fresh := often(t, claimstest.Unfollow(d), use.cycle, more)
		if err := tx.QueryRow("SELECT count(*) FROM holdfast_locks").Scan(&locks); err != nil {
			t.Fatal(err)
		}
		often(t, claimstest.Unfollow(d), use.cycle, rounds)
		d.Close()
		analyze(t, db)
		before := entriesRead(t, db)
		d, _ = migrated(t, server)
		aged := often(t, claimstest.Unfollow(d), use.cycle, more)
		d.Close()
		read := (entriesRead(t, db) - before) / more
		d, _ = migrated(t, server)
		t.Logf("%s: p50 is %v, %v after %d cycles, and a cycle reads %d entries", use.name, fresh, aged, rounds, read)
		if read > fewEntries {
			t.Errorf("%s: after %d cycles one reads %d entries of indexes, want %d at most",
				use.name, rounds, read, fewEntries)
		}
	}
}

// Statistics that were made while the tables were nearly empty are used when thousands wait, and thousands have ended.
// A request reads none of these, whatever it asks for.
func TestStatisticsOfEmptyTables(t *testing.T) {
	server := servers.Postgres(t)
	d, db := migrated(t, server)
	held, last, try := acquire(t, d, claim()), claim(), claimed.Try(claim())
	d.Close()
	analyze(t, db)
	crowd(t, db)
	doNotSweep(t, db)
	for _, step := range []struct {
		name string
		ask  func() error
	}{
		{"queueing", func() error { _, err := d.Request(t.Context(), last); return err }},
		{"trying", func() error { _, err := d.Request(t.Context(), try); return err }},
		{"asking again", func() error { _, err := d.Request(t.Context(), last); return err }},
		{"renewing", func() error { _, err := d.Request(t.Context(), held); return err }},
		{"renewing together", func() error {
			_, err := d.Renew(t.Context(), []driver.Claim{held, last})
			return err
		}},
		{"revoking", func() error { return d.Revoke(t.Context(), held.Name, held.ID) }},
		{"leaving", func() error { return d.Release(t.Context(), last) }},
		{"undoing", func() error { return d.Release(t.Context(), claim()) }},
		{"breaking", func() error { return d.Break(t.Context(), held.Name, held.ID) }},
	} {
		before := entriesRead(t, db)
		d, _ = migrated(t, server)
		if err := step.ask(); err != nil && !errors.Is(err, driver.ErrGone) {
			t.Errorf("%s: %v", step.name, err)
		}
		d.Close()
		if read := entriesRead(t, db) - before; read > fewEntries {
			t.Errorf("%s reads %d entries of indexes, want %d at most", step.name, read, fewEntries)
		}
	}
}

// doNotSweep keeps clients from sweeping, which reads thousands of rows, for the rest of the test.
func doNotSweep(t *testing.T, db *sql.DB) {
	t.Helper()
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tx.Rollback() })
	if _, err := tx.Exec("SELECT FROM holdfast_sweep FOR UPDATE"); err != nil {
		t.Fatal(err)
	}
}

// crowd has thousands wait behind a claim that is alone, and thousands of earlier ones remembered.
func crowd(t *testing.T, db *sql.DB) {
	t.Helper()
	for _, statement := range []string{
		"SELECT holdfast1_enter(name) FROM holdfast_locks",
		"INSERT INTO holdfast_claims" +
			" (name, id, token, weight, units, ttl, deadline, since, granted, revoked, owner, value)" +
			" SELECT c.name, 'w' || i, c.token + i, 1, 1, c.ttl, c.deadline, c.since, false, false, '', ''" +
			" FROM holdfast_claims c, generate_series(1, 3000) i",
		"INSERT INTO holdfast_ends (name, id, token, released, deadline)" +
			" SELECT c.name, 'e' || i, 1, true, c.deadline FROM holdfast_claims c, generate_series(1, 3000) i" +
			" WHERE c.granted",
		"UPDATE holdfast_locks SET token = token + 3000",
	} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
}

// fewEntries is how many entries of indexes a cycle may read, however many there are.
const fewEntries = 100

// analyze does what the server does by itself from time to time.
func analyze(t testing.TB, db *sql.DB) {
	t.Helper()
	if _, err := db.Exec("VACUUM ANALYZE holdfast_locks, holdfast_claims, holdfast_ends"); err != nil {
		t.Fatal(err)
	}
}

func claim() driver.Claim { return claimed.Mutex("one", time.Minute) }

var acquire, release = claimed.Acquire, claimed.Release

// often repeats a cycle, and returns how long half of them took at most.
func often(t testing.TB, d claimed.Requester, cycle func(testing.TB, claimed.Requester), n int) time.Duration {
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

// entriesRead counts what sessions have read of indexes. They tell that at their end, so it waits for that.
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
	const reads = "SELECT sum(idx_tup_read) FROM pg_stat_user_indexes" +
		" WHERE relname IN ('holdfast_claims', 'holdfast_ends')"
	err := db.QueryRow(reads).Scan(&n)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
