package sqltest

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"modernc.org/sqlite"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/sqllock"
)

// addClaims makes claims that live for ever, or are long over, on a lock of each name that the expression makes of i.
func addClaims(t *testing.T, path, name string, first, last int, over bool) {
	t.Helper()
	change(t, path, `INSERT INTO holdfast_claims
			(name, token, id, weight, units, ttl, deadline, since, client, detached, granted, owner, value)
		WITH RECURSIVE n(i) AS (SELECT ?1 UNION ALL SELECT i + 1 FROM n WHERE i < ?2)
		SELECT CAST(`+name+` AS BLOB), i, 'c' || i, 1, 1, 1, iif(?3, 1, 9000000000000000000), 1, '', 1, 0, '', '' FROM n`,
		first, last, over)
}

// A list comes in pages, of which each reads so many claims and no more, and ends where its prefix does. A lock whose
// claims are on several pages is listed once, whichever of them live.
func TestListComesInPages(t *testing.T) {
	const locks, most = 5_000, 1_500
	path := newFile(t)
	db, read := countedSQL(t, path)
	d, err := drivertest.Wrap(sqllock.New(t.Context(), db, sqllock.SQLite, nil))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	addClaims(t, path, "printf('many %04d', i)", 1, locks, false)
	addClaims(t, path, "'line of the living'", 1, 2*most, false)
	addClaims(t, path, "'line of the dead'", 1, 2*most, true)
	addClaims(t, path, "'line of the dead'", 2*most+1, 2*most+1, false)
	addClaims(t, path, "'over'", 1, 2*most, true)

	var many []string
	for i := range locks {
		many = append(many, fmt.Sprintf("many %04d", i+1))
	}
	lines := []string{"line of the dead", "line of the living"}
	for prefix, want := range map[string][]string{
		"":           slices.Concat(lines, many),
		"line":       lines,
		"many":       many,
		"many 12":    many[1199:1299],
		"many 5000":  many[locks-1:],
		"many 50000": nil,
		"over":       nil,
		"\xff":       nil,
	} {
		var found []string
		for name, err := range driver.List(t.Context(), d, prefix) {
			if err != nil {
				t.Fatal(err)
			}
			found = append(found, name)
		}
		slices.Sort(found)
		if !slices.Equal(found, want) {
			t.Errorf("with the prefix %q there are %d locks, want %d", prefix, len(found), len(want))
		}
	}

	before := read.Load()
	for name, err := range driver.List(t.Context(), d, "many") {
		if rows := read.Load() - before; err != nil || rows > most {
			t.Errorf("to yield %q, %v, a list has read %d rows, want at most %d", name, err, rows, most)
		}
		break
	}
	before = read.Load()
	for range driver.List(t.Context(), d, "many 12") {
	}
	if rows := read.Load() - before; rows > most/10 {
		t.Errorf("a list of 100 locks has read %d rows", rows)
	}
}

// countedSQL is openSQL, and says how many rows were read.
func countedSQL(t *testing.T, path string) (*sql.DB, *atomic.Int64) {
	t.Helper()
	c := counted{path: path, rows: new(atomic.Int64)}
	db := sql.OpenDB(c)
	t.Cleanup(func() { db.Close() })
	return db, c.rows
}

// counted are connections that count the rows that statements return.
type counted struct {
	path string
	rows *atomic.Int64
}

func (c counted) Driver() sqldriver.Driver { return &sqlite.Driver{} }

func (c counted) Connect(context.Context) (sqldriver.Conn, error) {
	conn, err := c.Driver().Open(c.path + "?_pragma=busy_timeout(20000)")
	if err != nil {
		return nil, err
	}
	return countedConn{conn.(fullConn), c.rows}, nil
}

type fullConn interface {
	sqldriver.Conn
	sqldriver.ConnPrepareContext
	sqldriver.ExecerContext
	sqldriver.QueryerContext
}

type countedConn struct {
	fullConn
	rows *atomic.Int64
}

func (c countedConn) PrepareContext(ctx context.Context, query string) (sqldriver.Stmt, error) {
	stmt, err := c.fullConn.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	return countedStmt{stmt.(fullStmt), c.rows}, nil
}

type fullStmt interface {
	sqldriver.Stmt
	sqldriver.StmtExecContext
	sqldriver.StmtQueryContext
}

type countedStmt struct {
	fullStmt
	rows *atomic.Int64
}

func (s countedStmt) QueryContext(ctx context.Context, args []sqldriver.NamedValue) (sqldriver.Rows, error) {
	rows, err := s.fullStmt.QueryContext(ctx, args)
	return countedRows{rows, s.rows}, err
}

type countedRows struct {
	sqldriver.Rows
	rows *atomic.Int64
}

func (r countedRows) Next(dest []sqldriver.Value) error {
	err := r.Rows.Next(dest)
	if err == nil {
		r.rows.Add(1)
	}
	return err
}
