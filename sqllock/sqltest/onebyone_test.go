package sqltest

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/sqllock"
)

// A oneByOne is an SQL driver that prepares one statement at a time, as most do: github.com/ncruces/go-sqlite3 refuses
// more, and github.com/mattn/go-sqlite3 forgets all but the first.
type oneByOne struct {
	of   sqldriver.Driver
	path string
}

func (d oneByOne) Connect(context.Context) (sqldriver.Conn, error) {
	conn, err := d.of.Open(d.path)
	return oneByOneConn{conn}, err
}

func (d oneByOne) Driver() sqldriver.Driver { return d.of }

type oneByOneConn struct{ sqldriver.Conn }

func (c oneByOneConn) Prepare(query string) (sqldriver.Stmt, error) {
	if strings.Contains(strings.TrimSuffix(query, ";"), ";\n") {
		return nil, errors.New("multiple statements")
	}
	return c.Conn.Prepare(query)
}

func (c oneByOneConn) ExecContext(
	ctx context.Context, query string, args []sqldriver.NamedValue,
) (sqldriver.Result, error) {
	if len(args) > 0 {
		return nil, sqldriver.ErrSkip
	}
	return c.Conn.(sqldriver.ExecerContext).ExecContext(ctx, query, nil)
}

// The program chooses the SQL driver, which need not prepare several statements as one: neither for a new file, nor
// after a boot.
func TestSQLDriverOfSingleStatements(t *testing.T) {
	path := newFile(t)
	for _, when := range []string{"at first", "after a boot"} {
		db := sql.OpenDB(oneByOne{openSQL(t, path).Driver(), path})
		d, err := drivertest.Wrap(sqllock.New(t.Context(), db, sqllock.SQLite, nil))
		if err != nil {
			t.Fatalf("%s: %v", when, err)
		}
		request(t, d, mutex("m"), true)
		if err := errors.Join(d.Close(), db.Close()); err != nil {
			t.Error(err)
		}
		change(t, path, "UPDATE holdfast_store SET boot = 'another'")
	}
}
