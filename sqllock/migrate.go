package sqllock

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// Migrate makes the tables and routines that [New] and [InTx] need, with names that begin with holdfast, in the
// database and schema that db uses. It can be run at any time and by many at once, while others use the locks. It
// makes what is missing, and the routines anew, which repairs what a dump has left out. What a program of another
// version has made is refused. The user of db needs the right to make tables and routines. The users of programs need
// the rights to read and write these tables and to execute these routines.
//
// An [SQLite] database needs no migration, because New makes its tables. Migrate makes them, too.
func Migrate(ctx context.Context, db *sql.DB, dialect *Dialect) error {
	if dialect == nil {
		return errNoDialect
	}
	return dialect.migrate(ctx, db)
}

// MigrateScript returns what [Migrate] does as a script for psql or the mysql client. Tools that migrate databases
// can run it, too. The script may be run again. For [SQLite] there is none: the
// error matches [errors.ErrUnsupported].
func MigrateScript(dialect *Dialect) (string, error) {
	switch {
	case dialect == nil:
		return "", errNoDialect
	case dialect.script == nil:
		return "", fmt.Errorf("%w: SQLite needs no migration; opening the file makes its tables", errors.ErrUnsupported)
	}
	return dialect.script(), nil
}
