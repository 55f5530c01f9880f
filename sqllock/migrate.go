package sqllock

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// Migrate makes the tables and routines that [New] and [InTx] need, with names that begin with holdfast, in the database
// and schema that db uses. It can be run at any time and by many at once, while others use the locks: tables of an earlier
// version are brought forward with what is in them, and the routines are made anew, which repairs what a dump has left
// out. Its user needs the right to make tables and routines; the others need to read and write these tables, and to
// execute these routines.
//
// An [SQLite] database needs no migration: New makes its tables. Migrate does so, too.
func Migrate(ctx context.Context, db *sql.DB, dialect *Dialect) error {
	if dialect == nil {
		return errNoDialect
	}
	return dialect.migrate(ctx, db)
}

// MigrateScript is what [Migrate] does, as a script for psql or for the mysql client, which the tools that people migrate
// databases with read, too. It can be run again, and again after a later one. With [SQLite] it is an error that matches
// [errors.ErrUnsupported].
func MigrateScript(dialect *Dialect) (string, error) {
	switch {
	case dialect == nil:
		return "", errNoDialect
	case dialect.script == nil:
		return "", fmt.Errorf("%w: SQLite needs no migration; opening the file makes its tables", errors.ErrUnsupported)
	}
	return dialect.script(), nil
}
