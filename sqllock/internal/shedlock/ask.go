package shedlock

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/dbms"
	"github.com/holdfast-go/holdfast/sqllock/internal/replies"
	"github.com/holdfast-go/holdfast/sqllock/internal/server"
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
	return f(conn{server.Conn{Conn: c, Explain: d.explain}, d})
}

// doubt closes all connections that are idle when the time for a statement was over: that one's may have been dead
// without a word, and so may they. Those of a caller's pool are the caller's.
func (d *Driver) doubt(ctx context.Context) {
	if d.owned && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		d.db.SetMaxIdleConns(0) // closes them
		d.db.SetMaxIdleConns(mostConns)
	}
}

// A conn is a connection on which scripts are run.
type conn struct {
	server.Conn
	driver *Driver
}

// do runs a script, and reports whether it changed anything.
func (c conn) do(ctx context.Context, what string, v values) (changed bool, err error) {
	return c.Do(ctx, c.driver.statement(what, v))
}

// explain says what an error of the server means.
func (d *Driver) explain(err error) error {
	switch {
	case err == nil || errors.Is(err, driver.ErrRefused):
		return err
	case dbms.NoTable(err):
		return replies.Refuse(err, "a table is missing that was there before; create it with: holdfast migrate")
	case slices.Contains([]string{"1406", "22001"}, dbms.Code(err)):
		return replies.Refuse(err, fmt.Sprintf(
			"let the owner of the table %s make locked_by a VARCHAR(%d)", d.table, mostBy))
	case slices.Contains([]string{"1142", "42501"}, dbms.Code(err)):
		return replies.Refuse(err, fmt.Sprintf(
			"grant the user the rights to read and write the tables %s and holdfast_guests", d.table))
	}
	return replies.Explain(err)
}
