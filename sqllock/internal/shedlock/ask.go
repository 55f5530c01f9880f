package shedlock

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/dbms"
	"github.com/holdfast-go/holdfast/sqllock/internal/replies"
)

// patiently runs f on a connection, of which it leaves enough for holders.
func (d *Driver) patiently(ctx context.Context, f func(conn) error) error {
	select {
	case d.patient <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", driver.ErrUnsent, replies.GaveUp(ctx))
	case <-d.life.Done():
		return fmt.Errorf("%w: %w", driver.ErrUnsent, driver.ErrClosed)
	}
	defer func() { <-d.patient }()
	return d.with(ctx, f)
}

// with runs f on a connection.
func (d *Driver) with(ctx context.Context, f func(conn) error) error {
	if d.life.Err() != nil {
		return fmt.Errorf("%w: %w", driver.ErrUnsent, driver.ErrClosed)
	}
	defer d.doubt(ctx)
	c, err := d.db.Conn(ctx)
	if err != nil {
		return d.explain(fmt.Errorf("%w: %w", driver.ErrUnsent, err))
	}
	defer c.Close()
	return f(conn{c, d})
}

// doubt closes all connections that are idle when the time for a statement was over: that one's may have been dead
// without a word, and so may they. Those of a caller's pool are the caller's.
func (d *Driver) doubt(ctx context.Context) {
	if d.owned != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		d.owned.SetMaxIdleConns(0) // closes them
		d.owned.SetMaxIdleConns(mostConns)
	}
}

// A conn runs statements, each of which commits by itself.
type conn struct {
	*sql.Conn
	driver *Driver
}

// do runs a statement, and reports whether it changed anything.
func (c conn) do(ctx context.Context, what script, v values) (changed bool, err error) {
	err = c.untilFree(ctx, func() error {
		result, err := c.ExecContext(ctx, c.driver.statement(what, v))
		if err != nil {
			return err
		}
		n, err := result.RowsAffected()
		changed = n > 0
		return err
	})
	return changed, err
}

// row asks for one row.
func (c conn) row(ctx context.Context, what script, v values, dest ...any) error {
	return c.untilFree(ctx, func() error {
		return c.QueryRowContext(ctx, c.driver.statement(what, v)).Scan(dest...)
	})
}

// each asks for rows.
func (c conn) each(ctx context.Context, what script, v values, see func(*sql.Rows) error) error {
	rows, err := c.QueryContext(ctx, c.driver.statement(what, v))
	if err != nil {
		return c.driver.explain(err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := see(rows); err != nil {
			return err
		}
	}
	return c.driver.explain(rows.Err())
}

// Bounds of the pauses between two attempts of a statement that was in the way of others.
const firstPause, lastPause = time.Millisecond, 50 * time.Millisecond

// untilFree repeats a statement that the server has undone.
func (c conn) untilFree(ctx context.Context, run func() error) error {
	pace := driver.Backoff{First: firstPause, Most: lastPause, Scatter: true}
	for {
		err := run()
		if err == nil || !isOneOf(err, c.driver.dialect.busy) || pace.Pause(ctx) != nil {
			return c.driver.explain(err)
		}
	}
}

func isOneOf(err error, codes []string) bool {
	code := dbms.Code(err)
	return code != "" && slices.ContainsFunc(codes, func(start string) bool { return strings.HasPrefix(code, start) })
}

// explain says what an error of the server means.
func (d *Driver) explain(err error) error {
	switch {
	case err == nil || errors.Is(err, driver.ErrRefused):
		return err
	case dbms.NoTable(err):
		return replies.Refuse(err, "a table is missing that was there before; create it with: holdfast migrate")
	case isOneOf(err, d.dialect.narrow):
		return replies.Refuse(err, fmt.Sprintf(
			"let the owner of the table %s make locked_by a VARCHAR(%d)", d.table, mostBy))
	case isOneOf(err, []string{"1142", "42501"}):
		return replies.Refuse(err, fmt.Sprintf(
			"grant the user the rights to read and write the tables %s and holdfast_guests", d.table))
	}
	return replies.Explain(err)
}
