package flashsale

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql" // mysql
	_ "github.com/jackc/pgx/v5/stdlib" // pgx
	_ "modernc.org/sqlite"             // sqlite

	"github.com/holdfast-go/holdfast/internal/servers"
	"github.com/holdfast-go/holdfast/lab/testbed"
)

// A Database is where the stock is.
type Database struct {
	Name   string
	Driver string                           // of database/sql
	Start  func(testing.TB) (source string) // until the test ends
}

// Databases are those in which the stock can be.
var Databases = []Database{
	{"SQLite", "sqlite", sqliteSource},
	{"MariaDB", "mysql", func(t testing.TB) string { return "root@tcp(" + servers.MariaDB(t).Addr + ")/test" }},
	{"PostgreSQL", "pgx", func(t testing.TB) string {
		return "postgres://postgres@" + servers.Postgres(t).Addr + "/postgres?sslmode=disable"
	}},
}

// sqliteSource is a file that does not wait for the disk, because it need not survive the sale.
func sqliteSource(t testing.TB) string {
	return "file:" + filepath.Join(t.TempDir(), "shop.db") +
		"?_pragma=busy_timeout(60000)&_pragma=journal_mode(WAL)&_pragma=synchronous(OFF)"
}

// InDatabase returns the database of that name, whatever its case.
func InDatabase(name string) (Database, error) {
	return testbed.Find("database", name, Databases, func(d Database) string { return d.Name })
}

// A Shop has one article, how many of it are left, and a receipt for each that was sold.
type Shop struct{ db *sql.DB }

// connections bound how many a process needs: with one for each buyer servers would refuse some.
const connections = 8

func open(ctx context.Context, database, source string) (*Shop, error) {
	d, err := InDatabase(database)
	if err != nil {
		return nil, err
	}
	db, err := sql.Open(d.Driver, source)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	if err := db.PingContext(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &Shop{db}, nil
}

// Close closes the connections.
func (s *Shop) Close() error { return s.db.Close() }

// Fill puts the stock into an empty database.
func (s *Shop) Fill(ctx context.Context, stock int) error {
	for _, statement := range []string{
		"CREATE TABLE stock (article INTEGER PRIMARY KEY, pieces INTEGER NOT NULL)",
		"CREATE TABLE receipts (buyer INTEGER PRIMARY KEY)",
		fmt.Sprintf("INSERT INTO stock VALUES (1, %d)", stock),
	} {
		if _, err := s.db.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// Buy is what shops do: look whether something is left, take the money, and write down what is left then. It is right
// for one buyer at a time, and wrong for two.
func (s *Shop) Buy(ctx context.Context, buyer int, pay time.Duration) (sold bool, err error) {
	var left int
	if err := s.db.QueryRowContext(ctx, "SELECT pieces FROM stock WHERE article = 1").Scan(&left); err != nil {
		return false, err
	}
	if left <= 0 {
		return false, nil
	}
	time.Sleep(pay) // what is simulated
	take := fmt.Sprintf("UPDATE stock SET pieces = %d WHERE article = 1", left-1)
	if _, err := s.db.ExecContext(ctx, take); err != nil {
		return false, err
	}
	_, err = s.db.ExecContext(ctx, fmt.Sprintf("INSERT INTO receipts VALUES (%d)", buyer))
	return err == nil, err
}

// Count returns what the database says is left, and how many receipts there are.
func (s *Shop) Count(ctx context.Context) (left, sold int, err error) {
	const query = "SELECT pieces, (SELECT COUNT(*) FROM receipts) FROM stock WHERE article = 1"
	err = s.db.QueryRowContext(ctx, query).Scan(&left, &sold)
	return left, sold, err
}
