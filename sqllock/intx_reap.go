package sqllock

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/internal/dbms"
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
	for after := firstRow; after != ""; {
		var names []string
		names, after, err = reapRows(ctx, conn, after, age)
		removed += len(names)
		if err != nil {
			return removed, fmt.Errorf("reap the rows of %s: %w", rowTable, err)
		}
	}
	return removed, nil
}

const (
	firstRow = "00" // in hexadecimal: no name is less
	rowsPage = 256  // that a step looks at
)

// reapRows takes one step of [ReapInTx], from a name on. It returns the names of the rows that it has deleted, and
// the name to go on from, which is empty at the end. All names are in hexadecimal. If the table is missing, there are
// no rows.
func reapRows(
	ctx context.Context, conn *sql.Conn, from string, age time.Duration,
) (names []string, next string, err error) {
	kind, err := dbms.Ask(ctx, conn)
	if err != nil || kind == dbms.SQLite {
		return nil, "", err
	}
	tx, err := conn.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	if err != nil {
		return nil, "", err
	}
	defer dbms.RollBack(ctx, conn, tx) // nothing, once it was committed
	s := rowScripts[kind == dbms.Postgres]
	last, next, err := s.page(ctx, tx, from)
	if dbms.NoTable(err) || last == "" {
		return nil, "", ignoreNoTable(err)
	}
	if names, err = s.old(ctx, tx, from, last, age); err != nil {
		return nil, "", err
	}
	if len(names) > 0 {
		if _, err := tx.ExecContext(ctx, s.dropAll(names)); err != nil {
			return nil, "", err
		}
	}
	return names, next, dbms.Commit(ctx, conn, tx)
}

func ignoreNoTable(err error) error {
	if dbms.NoTable(err) {
		return nil
	}
	return err
}

// rowScript is how a server writes bytes and spans of time, and how it deletes rows by their names alone.
type rowScript struct {
	literal, encoded, seconds string
	drop                      func(literals []string) string
}

// rowScripts has the one of PostgreSQL under true.
var rowScripts = map[bool]rowScript{
	false: {literal: "x'%s'", encoded: "HEX(name)", seconds: "INTERVAL %d SECOND", drop: dropOnMySQL},
	true:  {literal: `'\x%s'`, encoded: "encode(name, 'hex')", seconds: "INTERVAL '%d seconds'", drop: dropOnPostgres},
}

// dropOnMySQL finds each row by its key: a server that read the table instead would wait for rows that it reads past.
func dropOnMySQL(literals []string) string {
	return "DELETE r FROM (SELECT " + strings.Join(literals, " AS name UNION ALL SELECT ") + " AS name) d" +
		" STRAIGHT_JOIN " + rowTable + " r FORCE INDEX (PRIMARY) ON r.name = d.name"
}

func dropOnPostgres(literals []string) string {
	return "DELETE FROM " + rowTable + " WHERE name IN (" + strings.Join(literals, ", ") + ")"
}

// page returns the last name of a page, and the one after it.
func (s rowScript) page(ctx context.Context, tx *sql.Tx, from string) (last, next string, err error) {
	page, err := texts(tx.QueryContext(ctx, fmt.Sprintf("SELECT %s FROM %s WHERE name >= "+s.literal+
		" ORDER BY name LIMIT %d", s.encoded, rowTable, from, rowsPage+1)))
	switch {
	case err != nil || len(page) == 0:
		return "", "", err
	case len(page) > rowsPage:
		return page[rowsPage-1], page[rowsPage], nil
	}
	return page[len(page)-1], "", nil
}

// old returns and locks those of a page that are old enough and that nobody has locked.
func (s rowScript) old(ctx context.Context, tx *sql.Tx, from, last string, age time.Duration) ([]string, error) {
	query := "SELECT %s FROM %s WHERE name >= " + s.literal + " AND name <= " + s.literal +
		" AND made <= CURRENT_TIMESTAMP - " + s.seconds + " FOR UPDATE SKIP LOCKED"
	query = fmt.Sprintf(query, s.encoded, rowTable, from, last, int64(age/time.Second))
	return texts(tx.QueryContext(ctx, query))
}

// dropAll is the statement that deletes rows.
func (s rowScript) dropAll(names []string) string {
	literals := make([]string, len(names))
	for i, name := range names {
		literals[i] = fmt.Sprintf(s.literal, name)
	}
	return s.drop(literals)
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

// reapStep is reapRows for a driver, which tells names as they are.
func reapStep(
	ctx context.Context, conn *sql.Conn, from string, age time.Duration,
) (names []string, next string, err error) {
	found, next, err := reapRows(ctx, conn, from, age)
	for _, name := range found {
		plain, bad := hex.DecodeString(name)
		names, err = append(names, string(plain)), errors.Join(err, bad)
	}
	return names, next, err
}
