package sqllock

import (
	"context"
	"database/sql"
	"errors"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// A tx is one transaction. Its statements do not end with the caller's context: once it has begun it is quick, and
// nothing in between shall be unknown.
type tx struct {
	d     *Driver
	ctx   context.Context
	now   int64           // of the machine's clock
	lives map[string]bool // clients that were looked at
	rings []ring          // who is to be told once it is committed
}

// do runs f in a transaction of its own, again while others are busy with the file, until ctx ends.
func (d *Driver) do(ctx context.Context, f func(*tx) error) error {
	select {
	case <-d.turn:
		defer d.turn.next()
	case <-ctx.Done():
		return ctx.Err()
	case <-d.closed.Done():
		return errClosed
	}
	if d.closed.Err() != nil {
		return errClosed
	}
	var t *tx
	err := d.untilFree(ctx, func() error {
		t = &tx{d: d, ctx: context.WithoutCancel(ctx), lives: make(map[string]bool)}
		return t.run(ctx, f)
	})
	if err == nil {
		d.ring(t.rings)
	}
	return err
}

var errClosed = errors.New("sqllock: the driver is closed")

// run begins, does and commits.
func (t *tx) run(ctx context.Context, f func(*tx) error) error {
	if _, err := t.d.conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		t.rollBack() // ctx may have ended just after it began
		return err
	}
	t.now = machineNow()
	if _, err := t.format(); err != nil {
		t.rollBack()
		return err
	}
	err := f(t)
	if err != nil && !isAnswer(err) {
		t.rollBack()
		return err
	}
	if _, failed := t.d.conn.ExecContext(t.ctx, "COMMIT"); failed != nil {
		t.rollBack()
		return failed
	}
	return err
}

// rollBack ends a transaction if there is one.
func (t *tx) rollBack() {
	t.d.conn.ExecContext(t.ctx, "ROLLBACK") // it fails where there is none
}

// isAnswer reports whether an error is what the caller asked for, so that what was noted on the way is kept.
func isAnswer(err error) bool { return errors.Is(err, driver.ErrGone) }

// untilFree repeats f while the file is busy, with pauses that differ among clients.
func (d *Driver) untilFree(ctx context.Context, f func() error) error {
	for pause := time.Millisecond; ; pause = min(2*pause, 20*time.Millisecond) {
		err := f()
		if err == nil || !isBusy(err) {
			return err
		}
		if driver.Sleep(ctx, rand.N(pause)) != nil {
			return errors.Join(ctx.Err(), err)
		}
	}
}

// Primary result codes of SQLite that say "not now": sqlite.org/rescode.html.
const (
	sqliteBusy   = 5
	sqliteLocked = 6
)

// isBusy reports whether somebody else had the file locked. SQL drivers for SQLite tell that in different ways.
func isBusy(err error) bool {
	var coded interface{ Code() int }
	if errors.As(err, &coded) {
		code := coded.Code() & 0xff // without the extended part, such as BUSY_SNAPSHOT's
		return code == sqliteBusy || code == sqliteLocked
	}
	return strings.Contains(err.Error(), "database is locked") || strings.Contains(err.Error(), "database table is locked")
}

// exec runs a statement.
func (t *tx) exec(s statement, args ...any) error {
	stmt, err := t.stmt(s)
	if err != nil {
		return err
	}
	_, err = stmt.ExecContext(t.ctx, args...)
	return err
}

// query runs a statement that returns rows.
func (t *tx) query(s statement, args ...any) (*sql.Rows, error) {
	stmt, err := t.stmt(s)
	if err != nil {
		return nil, err
	}
	return stmt.QueryContext(t.ctx, args...)
}

// get runs a statement that returns a row, into dest; sql.ErrNoRows when it returns none.
func (t *tx) get(dest []any, s statement, args ...any) error {
	stmt, err := t.stmt(s)
	if err != nil {
		return err
	}
	return stmt.QueryRowContext(t.ctx, args...).Scan(dest...)
}

// stmt prepares a statement once.
func (t *tx) stmt(s statement) (*sql.Stmt, error) {
	if stmt, ok := t.d.stmts[s]; ok {
		return stmt, nil
	}
	stmt, err := t.d.conn.PrepareContext(t.ctx, s.text())
	if err == nil {
		t.d.stmts[s] = stmt
	}
	return stmt, err
}
