package sqltest

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/sqllock"
)

// A panicking is an SQL driver that panics once, at the next statement that begins with a text, or fails to run it.
// The COMMIT of what changes nothing is none of these: a driver looks at claims whenever it likes.
type panicking struct {
	of   sqldriver.Driver
	path string
	at   *atomic.Pointer[string]
	fail error // instead of a panic
}

func (d panicking) Connect(context.Context) (sqldriver.Conn, error) {
	conn, err := d.of.Open(d.path)
	return &panickingConn{Conn: conn, panicking: d}, err
}

func (d panicking) Driver() sqldriver.Driver { return d.of }

type panickingConn struct {
	sqldriver.Conn
	panicking
	before int64 // changes, when the transaction began
}

func (c *panickingConn) panicAt(query string) error {
	if strings.HasPrefix(query, "BEGIN") {
		c.before = changesOf(c.Conn)
	}
	at := c.at.Load()
	if at != nil && strings.HasPrefix(query, *at) && (query != "COMMIT" || changesOf(c.Conn) > c.before) {
		c.at.Store(nil)
		if c.fail == nil {
			panic(*at)
		}
		return c.fail
	}
	return nil
}

func (c *panickingConn) ExecContext(
	ctx context.Context, query string, args []sqldriver.NamedValue,
) (sqldriver.Result, error) {
	if len(args) > 0 {
		return nil, sqldriver.ErrSkip
	}
	if err := c.panicAt(query); err != nil {
		return nil, err
	}
	return c.Conn.(sqldriver.ExecerContext).ExecContext(ctx, query, nil)
}

func (c *panickingConn) Prepare(query string) (sqldriver.Stmt, error) {
	if err := c.panicAt(query); err != nil {
		return nil, err
	}
	return c.Conn.Prepare(query)
}

// openPanicking opens a file through such a driver.
func openPanicking(t *testing.T, path string, fail error) (p panicking, d *drivertest.Facade, closeBoth func() error) {
	t.Helper()
	p = panicking{of: openSQL(t, path).Driver(), path: path, at: new(atomic.Pointer[string]), fail: fail}
	db := sql.OpenDB(p)
	d, err := drivertest.Wrap(sqllock.New(t.Context(), db, sqllock.SQLite, nil))
	if err != nil {
		t.Fatal(err)
	}
	return p, d, func() error { return errors.Join(d.Close(), db.Close()) }
}

// A panic of the SQL driver leaves no transaction open, in which nobody else could write.
func TestPanicOfTheSQLDriver(t *testing.T) {
	for _, at := range []string{"-- Queues a claim", "COMMIT"} {
		path := newFile(t)
		p, d, closeBoth := openPanicking(t, path, nil)
		other := open(t, path)
		p.at.Store(&at)
		caught := fmt.Sprint(panicOf(func() { d.Request(t.Context(), mutex("m")) }))
		if !strings.HasPrefix(caught, at) || !strings.Contains(caught, "panicAt") {
			t.Errorf("a panic at %q came up as %v; want it with the place where it began", at, caught)
		}
		for name, d := range map[string]*drivertest.Facade{"others": other, "the same client": d} {
			ctx, cancel := context.WithTimeout(t.Context(), atOnce)
			if _, err := d.Request(ctx, mutex(name)); err != nil {
				t.Errorf("after a panic at %q, a request of %s: %v", at, name, err)
			}
			cancel()
		}
		if err := closeBoth(); err != nil {
			t.Error(err)
		}
	}
}

// A transaction whose commit fails is not left open, and what a sweep could not end is told.
func TestErrorOfTheSQLDriver(t *testing.T) {
	errPlanned := errors.New("planned")
	for at, do := range map[string]func(d *drivertest.Facade) error{
		"COMMIT": func(d *drivertest.Facade) error {
			_, err := d.Request(t.Context(), mutex("m"))
			return err
		},
		"-- Takes a claim out of its queue.": func(d *drivertest.Facade) (err error) {
			for end := time.Now().Add(patience); err == nil && time.Now().Before(end); {
				time.Sleep(10 * time.Millisecond) // there is nothing to do until the claim expires
				_, err = driver.Reap(t.Context(), d, 0)
			}
			return err
		},
	} {
		p, d, closeBoth := openPanicking(t, newFile(t), errPlanned)
		dead := mutex("dead")
		dead.TTL, dead.Detached = d.Traits().MinTTL, true
		request(t, d, dead, true)
		p.at.Store(&at)
		if err := do(d); !errors.Is(err, errPlanned) {
			t.Errorf("after an error at %q: %v", at, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), atOnce)
		if _, err := d.Request(ctx, mutex("next")); err != nil {
			t.Errorf("a request after an error at %q: %v", at, err)
		}
		cancel()
		if err := closeBoth(); err != nil {
			t.Error(err)
		}
	}
}

// A client that waits behind a living one changes nothing.
func TestWaitChangesNothing(t *testing.T) {
	path := newFile(t)
	holder, d, waiter := open(t, path), open(t, path), mutex("m")
	request(t, holder, mutex("m"), true)
	request(t, d, waiter, false)
	conn, err := openSQL(t, path).Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	version := func() (n int64) { // which changes with what other connections change
		if err := conn.QueryRowContext(t.Context(), "PRAGMA data_version").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	before := version()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := d.Wait(ctx, waiter); !errors.Is(err, context.DeadlineExceeded) || version() != before {
		t.Errorf("Wait: %v; the version of the data was %d, and is %d", err, before, version())
	}
}

// panicOf returns what f panics with.
func panicOf(f func()) (caught any) {
	defer func() { caught = recover() }()
	f()
	return nil
}
