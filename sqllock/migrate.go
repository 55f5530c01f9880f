package sqllock

import (
	"context"
	"database/sql"
	"errors"

	"github.com/holdfast-go/holdfast/sqllock/internal/claims"
	"github.com/holdfast-go/holdfast/sqllock/internal/sessions"
)

// Migrate makes the tables and routines that [New] and [InTx] need, with names that begin with holdfast, in the database and schema
// that db uses. It does nothing where they are there. Its user needs the right to make tables and routines; the others
// need to read and write these tables, and to execute these routines.
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
