package servertables

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/dbms"
	"github.com/holdfast-go/holdfast/sqllock/internal/server"
)

// A conn is a connection that was made ready, with the statements that were prepared on it. It never goes back to the
// pool that it is from, where nobody expects what was changed.
type conn struct {
	*sql.Conn
	dialect    *Dialect
	endpoint   *endpoint
	shared     bool                 // its sessions are, so nothing was changed in them
	statements map[string]*sql.Stmt // that were prepared, by what they are for
}

func openConn(ctx context.Context, e *endpoint) (*conn, error) {
	c, err := e.db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	shared := e.shared.Load()
	if !shared {
		err = e.dialect.makeReady(ctx, c)
	}
	if err != nil {
		dbms.Discard(c)
		return nil, err
	}
	return &conn{Conn: c, dialect: e.dialect, endpoint: e, shared: shared, statements: make(map[string]*sql.Stmt)}, nil
}

// makeReady sets up a session. That the server refuses one of the wishes is no error.
func (d *Dialect) makeReady(ctx context.Context, c *sql.Conn) error {
	for _, script := range []string{"session", "wishes"} {
		for _, statement := range server.Split(d.Statement(scripts, script)) {
			err := finish(ctx, func(ctx context.Context) error {
				_, err := c.ExecContext(ctx, statement)
				return err
			})
			if err != nil && (script == "session" || dbms.Code(err) == "") {
				return fmt.Errorf("%s: %w", title(statement), err)
			}
		}
	}
	return nil
}

// setUpGrace is how long a statement goes on by which a connection is set up, when nobody wants that connection any
// more: to cut it off is an error in the server's log.
const setUpGrace = time.Second

// finish has a quick statement finished although ctx ends meanwhile. If ctx has ended before, none is sent.
func finish(ctx context.Context, statement func(context.Context) error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	late, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	stop := context.AfterFunc(ctx, func() {
		time.AfterFunc(setUpGrace, func() { cancel(context.Cause(ctx)) })
	})
	defer stop()
	return statement(late)
}

func (c *conn) close() error { return dbms.Discard(c.Conn) }

// rows calls a routine, and read with each row of what it returns.
func (c *conn) rows(ctx context.Context, r routine, args []any, read func(scan func(...any) error) error) error {
	rows, err := c.query(ctx, r, args)
	if err != nil {
		c.lookAt(err)
		return err
	}
	defer rows.Close()
	for {
		for rows.Next() {
			if err := read(rows.Scan); err != nil {
				return err
			}
		}
		if !rows.NextResultSet() {
			return rows.Err()
		}
	}
}

func (c *conn) query(ctx context.Context, r routine, args []any) (*sql.Rows, error) {
	if c.shared && c.dialect.isPostgres {
		return c.QueryContext(ctx, c.dialect.call(prefix+string(r), len(args)), args...)
	}
	stmt, err := c.prepared(ctx, string(r), func() string { return c.dialect.call(prefix+string(r), len(args)) })
	if err != nil {
		return nil, err
	}
	return stmt.QueryContext(ctx, args...)
}

// statement returns one of the statements that are no routines.
func (c *conn) statement(ctx context.Context, name string) (*sql.Stmt, error) {
	return c.prepared(ctx, name, func() string { return c.dialect.Statement(scripts, name) })
}

// prepared returns a statement, which is prepared when it is first used.
func (c *conn) prepared(ctx context.Context, name string, text func() string) (*sql.Stmt, error) {
	if stmt, ok := c.statements[name]; ok {
		return stmt, nil
	}
	stmt, err := c.PrepareContext(ctx, text())
	if err != nil {
		return nil, unsent(err)
	}
	c.statements[name] = stmt
	return stmt, nil
}

// run calls a routine whose answer does not matter.
func (c *conn) run(ctx context.Context, r routine, args ...any) error {
	return c.rows(ctx, r, args, func(func(...any) error) error { return nil })
}

// A reading makes something of a row.
type reading[T any] func(scan func(...any) error) (T, error)

// one calls a routine that returns one row, or none.
func one[T any](ctx context.Context, c *conn, r routine, read reading[T], args ...any) (v T, err error) {
	err = c.rows(ctx, r, args, func(scan func(...any) error) (err error) {
		v, err = read(scan)
		return err
	})
	return v, err
}

// all calls a routine that returns rows. After an error there are none.
func all[T any](ctx context.Context, c *conn, r routine, read reading[T], args ...any) (list []T, err error) {
	err = c.rows(ctx, r, args, func(scan func(...any) error) error {
		v, err := read(scan)
		list = append(list, v)
		return err
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// column reads a row of one column.
func column[T any](scan func(...any) error) (v T, err error) {
	err = scan(&v)
	return v, err
}

// number calls a routine that returns one.
func (c *conn) number(ctx context.Context, r routine, args ...any) (int64, error) {
	return one(ctx, c, r, column[int64], args...)
}

// done calls a routine that returns nothing or 0, and 1 when the claim is gone.
func (c *conn) done(ctx context.Context, r routine, args ...any) error {
	n, err := c.number(ctx, r, args...)
	if err == nil && n != 0 {
		return driver.ErrGone
	}
	return err
}
