package dbms

import (
	"context"
	"database/sql"
	"fmt"
)

// MakeTable makes a table by the statement for the kind of a database, which does nothing where there is one. Many may
// do so at the same time.
func MakeTable(ctx context.Context, db *sql.DB, table string, statements map[Kind]string) error {
	kind, err := Of(ctx, db)
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, statements[kind])
	if Raced(err) {
		_, err = db.ExecContext(ctx, statements[kind])
	}
	if err != nil {
		return fmt.Errorf("create the table %s: %w", table, err)
	}
	return nil
}
