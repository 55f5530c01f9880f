package shedlock

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/dbms"
	"github.com/holdfast-go/holdfast/sqllock/internal/replies"
)

// checkColumns fails where ShedLock's table is missing, or where its columns cannot have times that others understand.
func (d *Driver) checkColumns(ctx context.Context, conn *sql.Conn) error {
	makeIt := strings.ReplaceAll(d.dialect.makeIt, "{table}", d.table)
	rows, err := conn.QueryContext(ctx, d.statement("columns", values{}))
	if dbms.NoTable(err) {
		return replies.Refuse(err, fmt.Sprintf("there is no table %s; neither ShedLock nor Holdfast creates it;"+
			" create it with: %s", d.table, makeIt))
	}
	if err != nil {
		return d.explain(err)
	}
	defer rows.Close()
	types, err := rows.ColumnTypes()
	if err = errors.Join(err, rows.Close()); err != nil {
		return d.explain(err)
	}
	until, at := types[0].DatabaseTypeName(), types[1].DatabaseTypeName()
	switch {
	case until == "TIMESTAMPTZ" || at == "TIMESTAMPTZ":
		return d.zoned()
	case at != until || !slices.Contains(d.dialect.types, until):
		return fmt.Errorf("%w: in the table %s, lock_until is a %s and locked_at a %s;"+
			" ShedLock's own table is created with: %s", driver.ErrRefused, d.table, until, at, makeIt)
	}
	return d.checkDigits(ctx, conn, types[:2])
}

// zoned refuses columns with a zone: what ShedLock writes with usingDbTime() is a time of UTC without one, which the
// server takes for a time of the session's zone, so that locks end hours early or late.
func (d *Driver) zoned() error {
	return fmt.Errorf("%w: in the table %s, lock_until or locked_at is a TIMESTAMPTZ, in which ShedLock's locks end"+
		" hours early or late where a session's zone is not UTC; while all programs with these locks are stopped,"+
		" whoever owns the table should:"+
		" ALTER TABLE %s ALTER lock_until TYPE TIMESTAMP USING lock_until AT TIME ZONE 'UTC',"+
		" ALTER locked_at TYPE TIMESTAMP USING locked_at AT TIME ZONE 'UTC'", driver.ErrRefused, d.table, d.table)
}

// checkDigits refuses times without milliseconds: they would be rounded, and locks end before their holders think.
func (d *Driver) checkDigits(ctx context.Context, conn *sql.Conn, times []*sql.ColumnType) error {
	var digits int64 = fewestDigits
	for _, column := range times {
		if _, scale, isTold := column.DecimalSize(); isTold {
			digits = min(digits, scale)
		}
	}
	if query := d.dialect.digits; query != "" {
		query = strings.ReplaceAll(query, "{table}", d.table)
		if err := conn.QueryRowContext(ctx, query).Scan(&digits); err != nil {
			return d.explain(err)
		}
	}
	if digits < fewestDigits {
		return fmt.Errorf("%w: in the table %s, times have %d digits after the second, and ShedLock's own %d;"+
			" whoever owns the table should make lock_until and locked_at a TIMESTAMP(3)",
			driver.ErrRefused, d.table, digits, fewestDigits)
	}
	return nil
}

// fewestDigits are those of milliseconds.
const fewestDigits = 3
