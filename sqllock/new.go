package sqllock

import (
	"cmp"
	"context"
	"database/sql"

	"github.com/holdfast-go/holdfast/driver"
)

// New makes a driver on a database that the caller has opened. Close leaves db open. What the driver can do besides
// package driver's functions find.
//
// With [SQLite] it keeps one connection of db until it is closed; so db must allow one more than its other users need. It
// makes the tables whose names begin with holdfast_ where there are none, sets the database to journal_mode=WAL, and makes
// a folder beside its file.
//
// With [MySQL] and [Postgres] it keeps a connection for requests and one for renewals, and has more while there is much to do:
// see [Options]; one more for each of some locks that it waits for, and one while it sweeps. Of a db that is bounded by
// SetMaxOpenConns it takes no more than half of the connections, rounded up. In the mode [Session] it is a connection for each claim. The
// tables are those that [Migrate] made; it is an error when there are none.
func New(ctx context.Context, db *sql.DB, dialect *Dialect, opts *Options) (driver.Driver, error) {
	if opts == nil {
		opts = &Options{}
	}
	return newDriver(ctx, db, dialect, *opts)
}

func newDriver(ctx context.Context, db *sql.DB, dialect *Dialect, opts Options) (driver.Driver, error) {
	if err := opts.check(dialect); err != nil {
		return nil, err
	}
	opts.Keep = cmp.Or(max(opts.Keep, 0), defaultKeep)
	if opts.Mode == Session {
		return dialect.sessions(ctx, db, opts)
	}
	return dialect.claims(ctx, db, opts)
}
