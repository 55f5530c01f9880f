package sqllock

import (
	"context"
	"database/sql"
	"slices"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/dbms"
	"github.com/holdfast-go/holdfast/sqllock/internal/advisory"
	"github.com/holdfast-go/holdfast/sqllock/internal/replies"
	"github.com/holdfast-go/holdfast/sqllock/internal/servertables"
	"github.com/holdfast-go/holdfast/sqllock/internal/shedlock"
	"github.com/holdfast-go/holdfast/sqllock/internal/sqlite"
)

// A Dialect is one kind of database: [SQLite], [MySQL] or [Postgres].
type Dialect struct {
	isServer bool // which has locks of its own

	// open makes a driver on a database, by options that were checked.
	open func(ctx context.Context, db *sql.DB, opts Options) (driver.Driver, error)

	// migrate makes the tables. script is the same for people to run; nil if New makes the tables.
	migrate func(ctx context.Context, db *sql.DB) error
	script  func() string
}

// SQLite is the dialect of SQLite 3.35 or newer.
var SQLite = &Dialect{
	open: func(ctx context.Context, db *sql.DB, opts Options) (driver.Driver, error) {
		return sqlite.New(ctx, db, opts.Keep)
	},
	migrate: func(ctx context.Context, db *sql.DB) error {
		d, err := sqlite.New(ctx, db, defaultKeep)
		if err != nil {
			return err
		}
		return d.Close()
	},
}

// MySQL is the dialect of MySQL 8.0 and MariaDB 10.6, or newer.
var MySQL = onServer(servertables.MySQL, advisory.MySQL, shedlock.MySQL, dbms.MySQL)

// Postgres is the dialect of PostgreSQL 12 or newer.
var Postgres = onServer(servertables.Postgres, advisory.Postgres, shedlock.Postgres, dbms.Postgres)

// onServer is the dialect of a database server, which keeps claims in tables, has advisory locks of its own, and may
// have the table of another library.
func onServer(
	tables *servertables.Dialect, locks *advisory.Dialect, theirs *shedlock.Dialect, kind dbms.Kind,
) *Dialect {
	others := slices.Concat(locks.Tables(), theirs.Tables(), []string{makeTable[kind]})
	return &Dialect{
		isServer: true,
		open: func(ctx context.Context, db *sql.DB, opts Options) (driver.Driver, error) {
			switch {
			case opts.Layout == ShedLock:
				return shedlock.New(ctx, db, theirs, opts.Table)
			case opts.Mode == Session && opts.Pooler == PoolsTransactions:
				return nil, advisory.ErrPooled
			case opts.Mode == Session:
				return advisory.New(ctx, db, locks, opts.Layout == RawLayout, opts.Keep)
			}
			return servertables.New(ctx, db, tables, servertables.Settings{
				Keep: opts.Keep, FindOut: opts.Pooler == "", Shared: opts.Pooler == PoolsTransactions,
				Connections: opts.Connections, Waits: opts.Waits,
				AlsoReap: reapRows,
			})
		},
		migrate: func(ctx context.Context, db *sql.DB) error {
			if err := servertables.Migrate(ctx, db, tables); err != nil {
				return err
			}
			return replies.Explain(dbms.MakeTables(ctx, db, "the other tables", others...))
		},
		script: func() string { return tables.Script(append(tables.Statements(), others...)) },
	}
}
