package claims

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast/driver"
)

// Postgres is the dialect of PostgreSQL 12 or newer.
var Postgres = &Dialect{
	Name: "postgres",
	call: func(routine string, args int) string {
		var b strings.Builder
		for i := range args {
			fmt.Fprintf(&b, ",$%d", i+1)
		}
		return "SELECT * FROM " + routine + "(" + strings.TrimPrefix(b.String(), ",") + ")"
	},
	session: []string{settings(
		"default_transaction_isolation", "read committed",
		"statement_timeout", "0",
		"lock_timeout", "0",
		"enable_seqscan", "off", // plans are made while tables are small, and used when they have grown
		"jit", "off",
	)},
	wishes:    []string{settings("idle_session_timeout", "0", "client_connection_check_interval", "1000")},
	migrate:   migratePostgres,
	drop:      "DROP FUNCTION IF EXISTS ",
	helpers:   []routine{"now", "bell", "enter", "bar", "finish", "settle", "state", "hang"},
	busy:      []string{"40001", "40P01", "55P03"},
	refused:   []string{"25006", "28", "3D", "42501"},
	missing:   []string{"42P01", "42883", "3F000"},
	bells:     32, // the server has room for 64 locks a connection, of all kinds
	facts:     postgresFacts,
	sessionID: "SELECT pg_backend_pid()",
}

// settings sets parameters of the session in one round trip.
func settings(pairs ...string) string {
	var calls []string
	for pair := range slices.Chunk(pairs, 2) {
		calls = append(calls, fmt.Sprintf("set_config('%s', '%s', false)", pair[0], pair[1]))
	}
	return "SELECT " + strings.Join(calls, ", ")
}

var postgresFacts = []fact{
	{"the server's version", "SHOW server_version", atLeast(12), driver.Warning, "upgrade to PostgreSQL 12 or newer: older ones are not tested"},
	{"pg_is_in_recovery", "SELECT pg_is_in_recovery()::text", is("false"), driver.Unsafe, "connect to the primary: a replica cannot write"},
	{"transaction_read_only", "SHOW transaction_read_only", is("off"), driver.Unsafe, "let this user write, or connect to the primary"},
	{"transaction_isolation", "SHOW transaction_isolation", is("read committed"), driver.Warning,
		"let the proxy keep SET SESSION: otherwise requests collide, and are repeated"},
	{"fsync", "SHOW fsync", is("on"), driver.Warning, "set it to on: otherwise a power failure may take back locks and tokens that were given"},
	{"synchronous_commit", "SHOW synchronous_commit", func(v string) bool { return v != "off" }, driver.Warning,
		"set it to on: otherwise a crash of the server may take back locks and tokens that were given"},
	{"idle_session_timeout", "SHOW idle_session_timeout", is("0"), driver.Warning,
		"let the proxy keep SET SESSION: otherwise connections that wait for work are closed, and opening them takes time"},
	{"the number of replicas that are not waited for",
		"SELECT count(*)::text FROM pg_stat_replication WHERE sync_state = 'async'", is("0"), driver.Warning,
		"a failover to one that lacks the last commits forgets locks: guard what must not be written twice with the fencing token, or set synchronous_standby_names"},
}

// migratePostgres makes everything in one transaction.
func migratePostgres(ctx context.Context, conn *sql.Conn, d *Dialect) error {
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // it does nothing after Commit
	if _, err := tx.ExecContext(ctx, "SELECT pg_advisory_xact_lock(hashtextextended('holdfast migrate', 0))"); err != nil {
		return err
	}
	var exists bool
	if err := tx.QueryRowContext(ctx, "SELECT to_regclass('holdfast_store') IS NOT NULL").Scan(&exists); err != nil {
		return err
	}
	if exists {
		found, err := d.formatOf(ctx, tx)
		if err != nil || found != 0 {
			return errors.Join(err, refuseOther(found))
		}
	}
	if err := d.make(ctx, tx); err != nil {
		return err
	}
	return tx.Commit()
}
