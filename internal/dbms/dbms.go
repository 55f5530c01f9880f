// Package dbms tells which database answers through database/sql, what its errors mean, and how it makes a table,
// whatever SQL driver is used.
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
	return 0, fmt.Errorf("%w: the database calls itself %q; use MySQL 8 or newer, MariaDB, PostgreSQL or SQLite",
		errors.ErrUnsupported, version)
}

// Genuine is [Ask] for those who need what only the genuine databases do. Those that pass for one of them, and keep
// no locks as it does, are refused with an error that matches [errors.ErrUnsupported].
func Genuine(ctx context.Context, q Querier) (Kind, error) {
	var version string
	if err := q.QueryRowContext(ctx, "SELECT version()").Scan(&version); err != nil {
		return 0, err
	}
	if name := poser(version); name != "" {
		return 0, fmt.Errorf("%w: the database is %s (its version is %q), which looks like another database but does "+
			"not lock like it; use MySQL 8 or newer, MariaDB or PostgreSQL itself",
			errors.ErrUnsupported, name, version)
	}
	return kindOf(version)
}

// posers are what databases have in their versions that pass for PostgreSQL or MySQL, in lower case.
var posers = []struct{ mark, name string }{
	{"redshift", "Amazon Redshift"}, {"-yb-", "YugabyteDB"}, {"greenplum", "Greenplum"}, {"cloudberry", "Cloudberry"},
	{"cockroach", "CockroachDB"}, {"risingwave", "RisingWave"}, {"materialize", "Materialize"}, {"cratedb", "CrateDB"},
	{"questdb", "QuestDB"}, {"opengauss", "openGauss"}, {"gaussdb", "GaussDB"},
	{"tidb", "TiDB"}, {"vitess", "Vitess"}, {"planetscale", "PlanetScale"}, {"oceanbase", "OceanBase"},
	{"singlestore", "SingleStore"}, {"memsql", "SingleStore"}, {"dolt", "Dolt"}, {"doris", "Doris"}, {"starrocks",
		"StarRocks"},
}

// poser names the database that a version is of, if that passes for another one.
func poser(version string) string {
	for _, p := range posers {
		if strings.Contains(strings.ToLower(version), p.mark) {
			return p.name
		}
	}
	return ""
}

// kinds are those of the databases that were asked.
var kinds memory[Kind]

// Of is Ask, once for each database.
func Of(ctx context.Context, db *sql.DB) (Kind, error) { return kinds.of(ctx, db, Ask) }

// A memory has what databases have answered to a question, for as long as they are in use.
type memory[T any] struct{ known sync.Map } // of weak.Pointer[sql.DB] to T

// of asks a database, unless that was done before.
func (m *memory[T]) of(ctx context.Context, db *sql.DB, ask func(context.Context, Querier) (T, error)) (T, error) {
	key := weak.Make(db)
	if known, ok := m.known.Load(key); ok {
		return known.(T), nil
	}
	answer, err := ask(ctx, db)
	if err != nil {
		return answer, err
	}
	if _, others := m.known.LoadOrStore(key, answer); !others {
		runtime.AddCleanup(db, func(key weak.Pointer[sql.DB]) { m.known.Delete(key) }, key)
	}
	return answer, nil
}

// MakeTables makes tables by statements that do nothing where there is one. Many may do so at the same time.
func MakeTables(ctx context.Context, db *sql.DB, what string, statements ...string) error {
	for _, statement := range statements {
		_, err := db.ExecContext(ctx, statement)
		if Raced(err) {
			_, err = db.ExecContext(ctx, statement)
		}
		if err != nil {
			return fmt.Errorf("create %s: %w", what, err)
		}
	}
	return nil
}

// MakeTable makes a table by the statement for the kind of a database.
func MakeTable(ctx context.Context, db *sql.DB, table string, statements map[Kind]string) error {
	kind, err := Of(ctx, db)
	if err != nil {
		return err
	}
	return MakeTables(ctx, db, "the table "+table, statements[kind])
}
