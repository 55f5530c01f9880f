package sqllock

import (
	"context"
	"database/sql"

	"github.com/holdfast-go/holdfast/sqllock/internal/claims"
)

// Migrate makes the tables and routines that [New] needs, with names that begin with holdfast, in the database and schema
// that db uses. It does nothing where they are there. Its user needs the right to make tables and routines; the others
// need to read and write these tables, and to execute these routines.
//
// An [SQLite] database needs no migration: New makes its tables. Migrate does so, too.
func Migrate(ctx context.Context, db *sql.DB, dialect *Dialect) error {
	if dialect.server != nil {
		return claims.Migrate(ctx, db, dialect.server)
	}
	d, err := newFile(ctx, db, dialect, defaultKeep)
	if err != nil {
		return err
	}
	return d.Close()
}
