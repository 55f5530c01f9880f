package claims

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/sqllock/internal/health"
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
		"plan_cache_mode", "force_generic_plan", // planning takes longer than looking at a few rows
		"jit", "off",
	)},
	wishes:    []string{settings("idle_session_timeout", "0", "client_connection_check_interval", "1000")},
	migrate:   migratePostgres,
	drop:      "DROP FUNCTION IF EXISTS ",
	helpers:   []routine{"now", "bell", "finish", "grant", "settle", "pass", "enter", "withdraw", "place", "hang"},
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

var postgresFacts = slices.Concat(health.Postgres, []health.Fact{
	{
		Name: "the server's version", Query: "SHOW server_version", Good: health.AtLeast(12), Level: driver.Warning,
		Advice: "upgrade to PostgreSQL 12 or newer: older ones are not tested",
	},
	{
		Name: "idle_session_timeout", Query: "SHOW idle_session_timeout", Good: health.Is("0"), Level: driver.Warning,
		Advice: "let the proxy keep SET SESSION: otherwise connections that wait for work are closed, and opening them takes time",
	},
})

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
