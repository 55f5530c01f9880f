package shedlock

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/dbms"
)

// timeOfColumns looks at the types of ShedLock's columns, and returns the server's time as they have it. It fails where
// the table is missing, or where its columns cannot have times that others understand.
func (d *Driver) timeOfColumns(ctx context.Context, conn *sql.Conn) (string, error) {
	rows, err := conn.QueryContext(ctx, d.statement(readColumns, values{}))
	if dbms.NoTable(err) {
		return "", fmt.Errorf("%w: there is no table %s (%w); ShedLock does not make it, and neither does this;"+
			" make it with: %s", driver.ErrRefused, d.table, err,
			strings.ReplaceAll(d.dialect.makeIt, "{table}", d.table))
	}
	if err != nil {
		return "", d.explain(fmt.Errorf("look at the table %s: %w", d.table, err))
	}
	defer rows.Close()
	types, err := rows.ColumnTypes()
	if err != nil {
		return "", d.explain(err)
	}
	until, at := types[0], types[1]
	time, isKnown := d.dialect.times[until.DatabaseTypeName()]
	if !isKnown || at.DatabaseTypeName() != until.DatabaseTypeName() {
		return "", fmt.Errorf("%w: in the table %s, lock_until is a %s and locked_at a %s;"+
			" ShedLock's own are made with: %s",
			driver.ErrRefused, d.table, until.DatabaseTypeName(), at.DatabaseTypeName(),
			strings.ReplaceAll(d.dialect.makeIt, "{table}", d.table))
	}
	for _, column := range types[:2] {
		if _, digits, isTold := column.DecimalSize(); isTold && digits < 3 {
			return "", fmt.Errorf("%w: in the table %s, the times have %d digits after the second,"+
				" and ShedLock's own 3; whoever owns the table should make %s a TIMESTAMP(3)",
				driver.ErrRefused, d.table, digits, column.Name())
		}
	}
	return time, rows.Err()
}
