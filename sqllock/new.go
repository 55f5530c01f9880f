package sqllock

import (
	"cmp"
	"context"
	"database/sql"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/sqllock/internal/shedlock"
)

// New makes a driver on a database that the caller has opened. Closing the driver leaves db open. The abilities of the
// driver are found with [driver.As].
//
// With [SQLite] the driver keeps one connection of db until it is closed, so db must allow one more than its other
// users need. New makes the tables if there are none (their names begin with holdfast_), sets the database to
// journal_mode=WAL, and makes a folder beside its file.
//
// With [MySQL] and [Postgres] the driver keeps one connection for requests and one for renewals. It opens more while
// there is much to do, one for each of some locks that it waits for, and one while it sweeps: see [Options]. If
// SetMaxOpenConns bounds db, it takes at most half of the connections, rounded up. In the mode [Session] each claim
// has a connection. The tables must be there: see [Migrate].
func New(ctx context.Context, db *sql.DB, dialect *Dialect, opts *Options) (driver.Driver, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	if err := o.check(dialect); err != nil {
		return nil, err
	}
	o.Keep = cmp.Or(max(o.Keep, 0), defaultKeep)
	o.Table = cmp.Or(o.Table, shedlock.Table)
	return dialect.open(ctx, db, o)
}
