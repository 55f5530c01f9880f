package sqllock

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/internal/dbms"
	"github.com/holdfast-go/holdfast/sqllock/internal/server"
	"github.com/holdfast-go/holdfast/sqllock/internal/servertables"
)

// ReapInTx deletes the rows of [InTx] that were made at least age ago and that nobody has locked, and returns their
// number. It can be run at any time: a row has no memory of its lock, and whoever uses the name next makes it again,
// which takes one more transaction. It looks at a few hundred rows at a time, and skips those that are in use. InTx
// with [NoWait] or [SkipLocked] may find one of them taken at that moment. ReapInTx takes one connection of db.
//
// With SQLite there are no such rows.
func ReapInTx(ctx context.Context, db *sql.DB, age time.Duration) (removed int, err error) {
	if age < 0 {
		return 0, fmt.Errorf("sqllock: the age %v is negative; give 0 or more", age)
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return 0, err
	}
	defer dbms.Within(ctx, func() { conn.Close() })
	for step, more := (servertables.Reaped{}), true; more; more = step.Next != "" {
		step, err = reapRows(ctx, conn, step.Next, age)
		removed += len(step.Names)
		if err != nil {
			return removed, fmt.Errorf("reap the rows of %s: %w", rowTable, err)
		}
	}
	return removed, nil
}

// rowsPage is how many rows a step looks at.
const rowsPage = 256

// reapRows takes one step of [ReapInTx], from a name on, and returns what it has deleted. If the table is missing,
// there are no rows.
func reapRows(ctx context.Context, conn *sql.Conn, from string, age time.Duration) (r servertables.Reaped, err error) {
	kind, err := dbms.Ask(ctx, conn)
	if err != nil || kind == dbms.SQLite {
		return r, err
	}
	var names []string
	s, last := rowScripts[kind == dbms.Postgres], ""
	err = dbms.InTx(ctx, conn, func(tx *sql.Tx) error {
		err := tx.QueryRowContext(ctx, s.page(from)).Scan(&last)
		if err == nil {
			names, err = texts(tx.QueryContext(ctx, s.old(from, last, age)))
		}
		if err == nil && len(names) > 0 {
			_, err = tx.ExecContext(ctx, s.dropAll(names))
		}
		return err
	})
	switch {
	case errors.Is(err, sql.ErrNoRows) || dbms.NoTable(err):
		return r, nil
	case err != nil:
		return r, err
	}
	next := last + "\x00" // no name lies between
	return servertables.Reaped{Kind: "row of a transaction", Names: names, Next: next}, nil
}

// A rowScript is how a server writes bytes, and how it deletes rows by their names alone.
type rowScript struct {
	bytes                  func(string) string
	before, between, after string // the names, in a statement that deletes rows
}

// rowScripts has the one of PostgreSQL under true. MySQL finds each row by its key: if it read the table instead, it
// would wait for rows that it reads past.
var rowScripts = map[bool]rowScript{
	false: {
		server.MySQL.Bytes, "DELETE r FROM (SELECT ", " AS name UNION ALL SELECT ",
		" AS name) d STRAIGHT_JOIN " + rowTable + " r FORCE INDEX (PRIMARY) ON r.name = d.name",
	},
	true: {server.Postgres.Bytes, "DELETE FROM " + rowTable + " WHERE name IN (", ", ", ")"},
}

// page returns the last name of a page.
func (s rowScript) page(from string) string {
	return fmt.Sprintf("SELECT name FROM (SELECT name FROM %s WHERE name >= %s ORDER BY name LIMIT %d) p"+
		" ORDER BY name DESC LIMIT 1", rowTable, s.bytes(from), rowsPage)
}

// old returns and locks those of a page that are old enough and that nobody has locked.
func (s rowScript) old(from, last string, age time.Duration) string {
	return fmt.Sprintf("SELECT name FROM %s WHERE name >= %s AND name <= %s"+
		" AND made <= CURRENT_TIMESTAMP - INTERVAL '%d' SECOND FOR UPDATE SKIP LOCKED",
		rowTable, s.bytes(from), s.bytes(last), int64(age/time.Second))
}

// dropAll deletes rows.
func (s rowScript) dropAll(names []string) string {
	literals := make([]string, len(names))
	for i, name := range names {
		literals[i] = s.bytes(name)
	}
	return s.before + strings.Join(literals, s.between) + s.after
}

// texts reads a column.
func texts(rows *sql.Rows, err error) (all []string, _ error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var one string
		if err := rows.Scan(&one); err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, rows.Err()
}
