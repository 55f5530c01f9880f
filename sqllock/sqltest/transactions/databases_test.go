package transactions

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/servers"

	_ "github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite"
)

// patience bounds what a test waits for.
const patience = 60 * time.Second

// tests are what each database must pass, but SQLite only what it can do.
var tests = []struct {
	name   string
	sqlite bool
	test   func(t *testing.T, d database)
}{
	{"InTx/taken", false, inTxTaken},
	{"InTx/a row is being made", false, inTxRowIsBeingMade},
	{"InTx/shared", false, inTxShared},
	{"InTx/sees what was committed", true, inTxSeesWhatWasCommitted},
	{"InTx/rolls back", true, inTxRollsBack},
	{"InTx/runs again after a deadlock", false, inTxRunsAgain},
	{"InTx/a holder that was cut off", false, inTxCutOff},
	{"InTx/the answer to COMMIT is lost", false, inTxCommitUnknown},
	{"InTx/the server refuses its end", false, inTxEndRefused},
	{"InTx/no answer comes to its end", false, inTxEndUnanswered},
	{"InTx/refuses", true, inTxRefuses},
	{"InTx/first use", true, inTxFirstUse},
	{"InTx/a row is deleted", false, inTxRowDeleted},
	{"InTx/rows are reaped", true, inTxReaped},
	{"InTx/a crowd beside reaping", false, inTxCrowdBesideReaping},
	{"InTx/outlasts the limit of the database", false, inTxOutlasts},
	{"InTx/1500 purchases of 100 items", true, purchases},
	{"ForUpdate/own rows", false, forUpdateOwnRows},
	{"ForUpdate/a deadlock", false, forUpdateDeadlock},
	{"fence/refuses", true, fenceRefuses},
	{"fence/rolls back", true, fenceRollsBack},
	{"fence/waits", false, fenceWaits},
	{"fence/first use", true, fenceFirstUse},
	{"fence/a holder is paused", false, fencePausedHolder},
	{"fence/without its table", true, fenceWithoutTable},
}

func TestMariaDB(t *testing.T) {
	s := servers.MariaDB(t)
	onServer(t, database{driver: "mysql", dsn: "root@tcp(" + s.Addr + ")/test", addr: s.Addr})
}

func TestPostgres(t *testing.T) {
	s := servers.Postgres(t)
	onServer(t, database{driver: "pgx", dsn: "postgres://postgres@" + s.Addr + "/postgres", addr: s.Addr})
}

func TestSQLite(t *testing.T) {
	for _, one := range tests {
		if one.sqlite {
			t.Run(one.name, func(t *testing.T) { one.test(t, sqliteFile(t)) })
		}
	}
}

// sqliteFile makes an empty database. Of many who open it, none may be the one to change its journal: SQLite waits for
// nobody then.
func sqliteFile(t testing.TB) database {
	file := filepath.Join(t.TempDir(), "data.db")
	d := database{driver: "sqlite", dsn: file + "?_pragma=busy_timeout(10000)"}
	if _, err := d.open(t).Exec("PRAGMA journal_mode = WAL"); err != nil {
		t.Fatal(err)
	}
	return d
}

// A database is one that a test has for itself.
type database struct {
	driver, dsn string // for sql.Open
	addr        string // of its server, if it has one
}

// onServer runs all tests on one server, each in a database of its own.
func onServer(t *testing.T, first database) {
	db := first.open(t)
	for i, one := range tests {
		t.Run(one.name, func(t *testing.T) {
			own, name := first, fmt.Sprintf("own%d", i)
			execute(t, db, "CREATE DATABASE "+name)
			own.dsn = own.dsn[:strings.LastIndex(own.dsn, "/")+1] + name
			one.test(t, own)
		})
	}
}

func (d database) pool() (*sql.DB, error) { return sql.Open(d.driver, d.dsn) }

// open opens a pool of connections until the test ends.
func (d database) open(t testing.TB) *sql.DB {
	t.Helper()
	db, err := d.pool()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// with opens the database once its tables were made.
func (d database) with(t testing.TB, migrate func(context.Context, *sql.DB) error) *sql.DB {
	t.Helper()
	db := d.open(t)
	if err := migrate(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	return db
}

// through is the database behind another address of its server.
func (d database) through(addr string) database {
	return database{d.driver, strings.Replace(d.dsn, d.addr, addr, 1), addr}
}

// text is a statement with the placeholders of the database.
func (d database) text(statement string) string {
	if d.driver != "pgx" {
		return statement
	}
	for n := 1; strings.Contains(statement, "?"); n++ {
		statement = strings.Replace(statement, "?", fmt.Sprintf("$%d", n), 1)
	}
	return statement
}

// An execer is a pool, a connection or a transaction.
type execer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func execute(t testing.TB, db execer, statements ...string) {
	t.Helper()
	for _, statement := range statements {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

// number asks for one number.
func number(t testing.TB, db execer, query string) (n int) {
	t.Helper()
	if err := db.QueryRowContext(t.Context(), query).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

func mustEqual[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// shortly is a context that ends before a wait that must not end would.
func shortly(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	t.Cleanup(cancel)
	return ctx
}

func patiently(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}
