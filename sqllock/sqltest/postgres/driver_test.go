package postgres

import (
	"database/sql"
	"fmt"
	"regexp"
	"testing"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/effort"
	"github.com/holdfast-go/holdfast/internal/servers"
	"github.com/holdfast-go/holdfast/sqllock"
	"github.com/holdfast-go/holdfast/sqllock/sqltest/claimstest"

	_ "github.com/jackc/pgx/v5/stdlib"
)

const others = " FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"

func TestClaims(t *testing.T) {
	effort.Raced(t)
	claimstest.Run(t, store)
}

func BenchmarkFar(b *testing.B) { claimstest.Bench(b, store) }

func store(t testing.TB) claimstest.Store {
	url := func(addr string) string { return "postgres://postgres@" + addr + "/postgres?sslmode=disable" }
	return claimstest.Store{
		Server:   servers.Postgres(t),
		Dialect:  sqllock.Postgres,
		URL:      url,
		Source:   url,
		SQL:      "pgx",
		Empty:    []string{"DROP SCHEMA public CASCADE", "CREATE SCHEMA public"},
		Schema:   "current_schema()",
		Routines: "SELECT 'DROP FUNCTION ' || oid::regprocedure FROM pg_proc WHERE proname LIKE 'holdfast1%'",
		Names: func(prefix string, n int) string {
			return fmt.Sprintf("INSERT INTO holdfast_locks (name, token, released)"+
				" SELECT convert_to('%s' || i, 'UTF8'), extract(epoch FROM clock_timestamp()) * 1000000, 0"+
				" FROM generate_series(0, %d - 1) i", prefix, n)
		},
		Queue: func(name string, n int) string {
			const now = "extract(epoch FROM clock_timestamp()) * 1000000"
			return fmt.Sprintf("INSERT INTO holdfast_claims"+
				" (name, id, token, weight, units, ttl, deadline, since, granted, revoked, owner, value)"+
				" SELECT '%s', 'queued ' || i, i, 1, 1, 3600000000, %s + 3600000000, %s, i = 1, false, '', ''"+
				" FROM generate_series(1, %d) i", name, now, now, n)
		},
		Analyze:  []string{"VACUUM ANALYZE holdfast_locks"},
		RowsRead: rowsRead,
		Other: []string{
			"CREATE OR REPLACE FUNCTION holdfast1_version() RETURNS TABLE (format integer, revision integer)" +
				" LANGUAGE sql AS 'SELECT format, 1000 FROM holdfast_store'",
		},
		Client: func(addr string) []string {
			return []string{"psql", "-X", "-q", "-1", "-v", "ON_ERROR_STOP=1", url(addr)}
		},
		Sessions: "SELECT count(*)" + others,
		Sleeping: "SELECT count(*)" + others +
			" AND state = 'active' AND query LIKE '%holdfast1_wait%' AND wait_event IS NOT NULL",
		WakeLock: func(id, of string) string {
			return "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1 AND granted" +
				" AND (classid::bigint << 32 | objid::bigint) = holdfast1_bell('" + id + "', '" + of + "')"
		},
		KillAll: func(t testing.TB, db *sql.DB) {
			t.Helper()
			if _, err := db.Exec("SELECT pg_terminate_backend(pid)" + others); err != nil {
				t.Fatal(err)
			}
		},
		Gate:   gate,
		Rival:  rival,
		Faults: faults,
		Wordy:  []string{"ALTER SYSTEM SET log_lock_waits = on", "SELECT pg_reload_conf()"},
		Noise: "still waiting|acquired .*Lock|canceling statement|unexpected EOF|could not (send|receive)|" +
			"unrecognized",
		Slow: claimstest.Slow{
			Begin: []string{"ALTER SYSTEM SET log_min_duration_statement = '1s'", "SELECT pg_reload_conf()"},
			End:   []string{"ALTER SYSTEM RESET log_min_duration_statement", "SELECT pg_reload_conf()"},
			Statements: func(t testing.TB, s claimstest.Store, _ *sql.DB) []string {
				return regexp.MustCompile("duration: .*holdfast1_.*").FindAllString(s.Log(t), -1)
			},
		},
		Deadlocks: "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()",
		Stranger: []string{
			"CREATE USER stranger PASSWORD 'secret'",
		},
		Settings: []claimstest.Setting{
			{
				Statement: "ALTER DATABASE postgres SET synchronous_commit = off",
				Fact:      "synchronous_commit is off", Level: driver.Warning,
			},
			{
				Statement: "ALTER DATABASE postgres SET default_transaction_read_only = on",
				Fact:      "transaction_read_only is on", Level: driver.Unsafe,
			},
		},
	}
}

// rival never looks whether it takes part in a deadlock, so that another transaction finds out, and is ended.
var rival = claimstest.Rival{
	Prepare: []string{"ALTER SYSTEM SET deadlock_timeout = '20ms'", "SELECT pg_reload_conf()"},
	Undo:    []string{"ALTER SYSTEM RESET deadlock_timeout", "SELECT pg_reload_conf()"},
	Begin:   []string{"SET LOCAL deadlock_timeout = '1h'"},
	Blocked: "SELECT count(*) FROM pg_locks WHERE NOT granted",
}

// rowsRead is what the server counts, a moment later.
func rowsRead(t testing.TB, db *sql.DB) (n int64) {
	t.Helper()
	err := db.QueryRow("SELECT coalesce(sum(seq_tup_read + idx_tup_fetch), 0)::bigint FROM pg_stat_user_tables" +
		" WHERE relname IN ('holdfast_locks', 'holdfast_claims', 'holdfast_ends')").Scan(&n)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
