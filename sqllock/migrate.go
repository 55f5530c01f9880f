package sqllock

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/holdfast-go/holdfast/internal/dbms"
	"github.com/holdfast-go/holdfast/sqllock/internal/claims"
	"github.com/holdfast-go/holdfast/sqllock/internal/sessions"
)

// Migrate makes the tables and routines that [New] and [InTx] need, with names that begin with holdfast, in the database
// and schema that db uses. It can be run at any time and by many at once, while others use the locks: tables of an earlier
// version are brought forward with what is in them, and the routines are made anew, which repairs what a dump has left
// out. Its user needs the right to make tables and routines; the others need to read and write these tables, and to
// execute these routines.
//
// An [SQLite] database needs no migration: New makes its tables. Migrate does so, too.
func Migrate(ctx context.Context, db *sql.DB, dialect *Dialect) error {
	if dialect.server != nil {
		return errors.Join(
			claims.Migrate(ctx, db, dialect.server),
			sessions.Migrate(ctx, db, dialect.sessions),
			MigrateInTx(ctx, db),
		)
	}
	d, err := newFile(ctx, db, dialect, defaultKeep)
	if err != nil {
		return err
	}
	return d.Close()
}

// MigrateScript is what [Migrate] does, as a script for psql or for the mysql client, which the tools that people migrate
// databases with read, too. It can be run again, and again after a later one. With [SQLite] it is an error that matches
// [errors.ErrUnsupported].
func MigrateScript(dialect *Dialect) (string, error) {
	if dialect.server == nil {
		return "", fmt.Errorf("%w: SQLite needs no migration; opening the file makes its tables", errors.ErrUnsupported)
	}
	rows := dbms.MySQL
	if dialect.server == claims.Postgres {
		rows = dbms.Postgres
	}
	return dialect.server.Script(slices.Concat(
		dialect.server.Statements(), dialect.sessions.Tables(), []string{makeTable[rows]},
	)), nil
}
