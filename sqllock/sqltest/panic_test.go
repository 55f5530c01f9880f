package sqltest

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/sqllock"
)

// A panicking is an SQL driver that panics once, at the next statement that begins with a text.
type panicking struct {
	of   sqldriver.Driver
	path string
	at   *atomic.Pointer[string]
}

func (d panicking) Connect(context.Context) (sqldriver.Conn, error) {
	conn, err := d.of.Open(d.path)
	return panickingConn{conn, d.at}, err
}

func (d panicking) Driver() sqldriver.Driver { return d.of }

type panickingConn struct {
	sqldriver.Conn
	at *atomic.Pointer[string]
}

func (c panickingConn) panicAt(query string) {
	if at := c.at.Load(); at != nil && strings.HasPrefix(query, *at) {
		c.at.Store(nil)
		panic(*at)
	}
}

func (c panickingConn) ExecContext(
	ctx context.Context, query string, args []sqldriver.NamedValue,
) (sqldriver.Result, error) {
	if len(args) > 0 {
		return nil, sqldriver.ErrSkip
	}
	c.panicAt(query)
	return c.Conn.(sqldriver.ExecerContext).ExecContext(ctx, query, nil)
}

func (c panickingConn) Prepare(query string) (sqldriver.Stmt, error) {
	c.panicAt(query)
	return c.Conn.Prepare(query)
}

// A panic of the SQL driver leaves no transaction open, in which nobody else could write.
func TestPanicOfTheSQLDriver(t *testing.T) {
	for _, at := range []string{"-- Queues a claim", "COMMIT"} {
		path := newFile(t)
		p := panicking{openSQL(t, path).Driver(), path, new(atomic.Pointer[string])}
		db := sql.OpenDB(p)
		d, err := sqllock.New(t.Context(), db, sqllock.SQLite, nil)
		if err != nil {
			t.Fatal(err)
		}
		other := open(t, path)
		p.at.Store(&at)
		if caught := panicOf(func() { d.Request(t.Context(), mutex("m")) }); caught != any(at) {
			t.Errorf("a panic at %q came up as %v", at, caught)
		}
		for name, d := range map[string]driver.Driver{"others": other, "the same client": d} {
			ctx, cancel := context.WithTimeout(t.Context(), atOnce)
			if _, err := d.Request(ctx, mutex(name)); err != nil {
				t.Errorf("after a panic at %q, a request of %s: %v", at, name, err)
			}
			cancel()
		}
		if err := errors.Join(d.Close(), db.Close()); err != nil {
			t.Error(err)
		}
	}
}

// panicOf returns what f panics with.
func panicOf(f func()) (caught any) {
	defer func() { caught = recover() }()
	f()
	return nil
}
