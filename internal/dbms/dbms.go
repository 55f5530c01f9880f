// Package dbms tells which database answers through database/sql, and what its errors mean, whatever SQL driver is used.
package dbms

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"weak"
)

// A Kind is a family of databases that understand the same statements.
type Kind int

const (
	MySQL Kind = iota + 1
	MariaDB
	Postgres
	SQLite
)

func (k Kind) String() string {
	return [...]string{"an unknown database", "MySQL", "MariaDB", "PostgreSQL", "SQLite"}[k]
}

// A Querier is a database, a connection or a transaction.
type Querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// Ask asks a database what it is, which takes one round trip. A transaction of any kind goes on afterwards.
func Ask(ctx context.Context, q Querier) (Kind, error) {
	var version string
	err := q.QueryRowContext(ctx, "SELECT version()").Scan(&version)
	switch {
	case err != nil && strings.Contains(err.Error(), "no such function: version"):
		return SQLite, nil
	case err != nil:
		return 0, fmt.Errorf("ask the database for its version: %w", err)
	}
	return kindOf(version)
}

func kindOf(version string) (Kind, error) {
	switch {
	case strings.HasPrefix(version, "PostgreSQL "):
		return Postgres, nil
	case strings.Contains(version, "MariaDB"):
		return MariaDB, nil
	case strings.HasPrefix(version, "8.") || strings.HasPrefix(version, "9."):
		return MySQL, nil
	}
	return 0, fmt.Errorf("%w: the database says that it is %q; use MySQL 8 or newer, MariaDB, PostgreSQL or SQLite",
		errors.ErrUnsupported, version)
}

// kinds are those of the databases that were asked, for as long as they are in use.
var kinds sync.Map // of weak.Pointer[sql.DB] to Kind

// Of is Ask, once for each database.
func Of(ctx context.Context, db *sql.DB) (Kind, error) {
	key := weak.Make(db)
	if known, ok := kinds.Load(key); ok {
		return known.(Kind), nil
	}
	kind, err := Ask(ctx, db)
	if err != nil {
		return 0, err
	}
	if _, others := kinds.LoadOrStore(key, kind); !others {
		runtime.AddCleanup(db, func(key weak.Pointer[sql.DB]) { kinds.Delete(key) }, key)
	}
	return kind, nil
}
