package servertables

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/sqllock/internal/health"
	"github.com/holdfast-go/holdfast/sqllock/internal/server"
)

// Postgres is the dialect of PostgreSQL 12 or newer.
var Postgres = &Dialect{
	Kind: server.Postgres,
	call: func(routine string, args int) string {
		var b strings.Builder
		for i := range args {
			fmt.Fprintf(&b, ",$%d", i+1)
		}
		return "SELECT * FROM " + routine + "(" + strings.TrimPrefix(b.String(), ",") + ")"
	},
	taken:      takenOnPostgres,
	isPostgres: true,
	migrate:    migratePostgres,
	refuse:     func(d *Dialect) []string { return []string{d.text("refuse")} },
	anew:       replaced,
	preface: "-- Makes what Holdfast needs in this schema. " +
		"Run it in one transaction: psql -1 -v ON_ERROR_STOP=1 -f FILE\n" +
		"SET LOCAL client_min_messages = warning;\n\n",
	helpers: []routine{
		"now", "bell", "shorten", "bar", "spill", "finish", "bury", "rewind", "grant", "settle", "pass", "enter",
		"carry", "withdraw", "place", "hang",
	},
	wakeLocks: 32,
	limit:     "SHOW max_locks_per_transaction", // for each connection, of all kinds, in a table that all share
	within: func(limit string) int {
		n, _ := strconv.Atoi(limit)
		return n / 4
	},
	facts: postgresFacts,
}

var postgresFacts = slices.Concat(health.Postgres, []health.Fact{
	{
		Name: "the server's version", Query: "SHOW server_version", Good: health.AtLeast(12), Level: driver.Warning,
		Advice: "upgrade to PostgreSQL 12 or newer: older ones are not tested",
	},
	{
		Name: "the age of the oldest transaction in seconds",
		Query: "SELECT coalesce(max(extract(epoch FROM clock_timestamp() - xact_start)), 0)::bigint::text" +
			" FROM pg_stat_activity WHERE backend_xmin IS NOT NULL OR backend_xid IS NOT NULL",
		Good: health.AtMost(60), Level: driver.Warning,
		Advice: "end it, and set idle_in_transaction_session_timeout: rows that have changed since are kept for it," +
			" and requests read past them, more slowly with each",
	},
	{
		Name: "the age of the oldest prepared transaction in seconds",
		Query: "SELECT coalesce(max(extract(epoch FROM clock_timestamp() - prepared)), 0)::bigint::text" +
			" FROM pg_prepared_xacts",
		Good: health.AtMost(60), Level: driver.Warning,
		Advice: "commit it or roll it back: rows that have changed since are kept for it, and requests read past them",
	},
	{
		Name: "the number of tables of locks that are mostly dead rows",
		Query: "SELECT count(*)::text FROM pg_stat_user_tables" +
			" WHERE relname LIKE 'holdfast%' AND n_dead_tup > 10000 + 2 * n_live_tup",
		Good: health.Is("0"), Level: driver.Warning,
		Advice: "let autovacuum run on them, and end old transactions, which keep it from removing anything",
	},
	{
		Name: "idle_session_timeout", Query: "SHOW idle_session_timeout", Good: health.Is("0"), Level: driver.Warning,
		Advice: "let the proxy keep SET SESSION: otherwise connections that wait for work are closed, " +
			"and opening them takes time",
	},
})

// inRoutines are the settings of routines that programs call. They are not the session's, which may be shared.
const inRoutines = " SET lock_timeout = '800ms'" + // below deadlock_timeout, after which the server logs who waits
	" SET enable_seqscan = off" + // plans are made while tables are small, and used when they have grown
	" SET enable_bitmapscan = off" + // it reads all of a queue, where its first claim is wanted
	" SET plan_cache_mode = force_generic_plan" + // planning takes longer than looking at a few rows
	" SET jit = off"

// replaced makes a routine in the place of the one that is there, so that those who call it find one at any time, and
// rights to it stay.
func replaced(name routine, statement string) []string {
	made := strings.Replace(statement, "\nCREATE FUNCTION", "\nCREATE OR REPLACE FUNCTION", 1)
	if !slices.Contains(callable, name) {
		return []string{made}
	}
	return []string{made, "ALTER FUNCTION " + prefix + string(name) + inRoutines}
}

// migratePostgres makes everything in one transaction.
func migratePostgres(ctx context.Context, conn *sql.Conn, d *Dialect) error {
	if _, _, err := d.refuseOthers(ctx, conn); err != nil {
		return err
	}
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // it does nothing after Commit
	err = d.make(ctx, tx, append([]string{
		"SET LOCAL client_min_messages = warning", // not about what is there
		"SET LOCAL statement_timeout = 0",
		"SET LOCAL lock_timeout = 0",
		"SELECT pg_advisory_xact_lock(hashtextextended('holdfast migrate', 0))",
	}, d.Statements()...))
	if err != nil {
		return err
	}
	return tx.Commit()
}
