package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/dbms"
	"github.com/holdfast-go/holdfast/sqllock/internal/replies"
)

// A connection is the one that a driver has. Its goroutines take turns on it, so they never find the database busy
// with each other.
type connection struct {
	*sql.Conn
	free        chan struct{} // holds a token while nobody uses the connection
	turns       *turns        // of all processes
	life        context.Context
	end         context.CancelCauseFunc // of life
	statements  map[statement]*sql.Stmt
	mayLag      bool   // commits need not wait for the disk, unless what they change outlives the boot
	synchronous string // the level that is set; empty at first
}

func openConnection(ctx context.Context, db *sql.DB) (*connection, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	c := &connection{Conn: conn, statements: make(map[statement]*sql.Stmt), free: make(chan struct{}, 1)}
	c.life, c.end = context.WithCancelCause(context.Background())
	c.free <- struct{}{}
	return c, nil
}

// take waits until nobody else uses the connection. The caller gives it back. The context that take returns ends
// with the connection, too.
func (c *connection) take(ctx context.Context) (_ context.Context, giveBack func(), err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(c.life, func() { cancel(driver.ErrClosed) })
	release := func() {
		stop()
		cancel(nil)
	}
	select {
	case <-c.free:
		return ctx, func() {
			c.free <- struct{}{}
			release()
		}, nil
	case <-ctx.Done():
		defer release()
		return nil, nil, unsent(replies.GaveUp(ctx))
	}
}

// transact runs f in a transaction, again while others are in the way, until ctx ends. The transaction has the only
// turn there is also if it changes nothing. Otherwise a process that is stopped in it would keep SQLite from
// emptying its log, to which others would add until it fills the disk.
//
// After the commit committed is called. The commit waits for the disk, which may take long, and the caller does so
// no longer than ctx. If ctx ends first nobody knows what comes of the transaction, and its turn is over when the
// disk is done.
func (c *connection) transact(ctx context.Context, f func(context.Context) error, committed func()) error {
	inside, giveBack, err := c.take(ctx)
	if err != nil {
		return err
	}
	commits, done := make(chan struct{}), make(chan struct{})
	once := func() error { return c.once(inside, f, sync.OnceFunc(func() { close(commits) })) }
	var work driver.Group
	work.Go(func() {
		defer close(done)
		if err = c.inTurn(inside, giveBack, once); err == nil {
			committed()
		}
	})
	select {
	case <-done:
	case <-commits:
		select {
		case <-done:
		case <-ctx.Done():
			return fmt.Errorf("%w, while the disk was waited for", replies.GaveUp(ctx))
		}
	}
	work.Wait() // for a panic of the SQL driver, which is the caller's
	return err
}

// inTurn runs a transaction when it is the turn of this process, and gives the connection back.
func (c *connection) inTurn(ctx context.Context, giveBack func(), once func() error) error {
	defer giveBack()
	if err := c.turns.enter(ctx); err != nil {
		return unsent(err)
	}
	defer c.turns.leave()
	return explain(c.untilFree(ctx, func() error { return c.asNeeded(ctx, once) }))
}

// once runs a transaction. After it has begun it does not end with ctx: it is quick, but for its commit, and
// breaking it off would leave unknown what it did. A panic of the SQL driver ends it: left open, it would hold up
// everybody until this process ends.
func (c *connection) once(ctx context.Context, f func(context.Context) error, commits func()) (err error) {
	if ctx.Err() != nil {
		return unsent(replies.GaveUp(ctx))
	}
	ctx = context.WithoutCancel(ctx)
	if _, err := c.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return uncommitted(err)
	}
	committed := false
	defer func() {
		if !committed {
			c.undo(ctx, err)
		}
	}()
	if err := f(ctx); err != nil {
		return uncommitted(err)
	}
	commits()
	_, err = c.ExecContext(ctx, "COMMIT")
	committed = err == nil
	return err
}

// undo ends a transaction that failed. If the disk is full, the write-ahead log may be what fills it. Then the log
// is moved into the database, so that its room can be used again: SQLite does so by itself only after a commit, and
// there is none as long as the disk is full.
func (c *connection) undo(ctx context.Context, why error) {
	defer func() { _ = recover() }() // after a panic another one says nothing new
	c.ExecContext(ctx, "ROLLBACK")   // it fails when the database has done so
	if code, _ := saidBy(why); code == codeFull {
		c.ExecContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)") // the next attempt shows whether there is room
	}
}

// unsent marks an error of a request that changed nothing: its transaction has not begun, or was rolled back.
var unsent = replies.Unsent

// uncommitted is an error of a transaction that did not come to its COMMIT. If SQLite sent it, nothing has happened.
func uncommitted(err error) error {
	if _, said := saidBy(err); said != nil {
		return unsent(err)
	}
	return err
}

// Bounds of the pauses between two attempts. They are short at first, because most transactions take less than a
// millisecond.
const (
	firstPause = 200 * time.Microsecond
	lastPause  = 10 * time.Millisecond
)

// untilFree repeats f while others are in the way, until ctx ends.
func (c *connection) untilFree(ctx context.Context, f func() error) error {
	pace := driver.Backoff{First: firstPause, Most: lastPause, Scatter: true}
	for {
		err := f()
		if err == nil || !IsBusy(err) {
			return err
		}
		if pace.Pause(ctx) != nil {
			return unsent(fmt.Errorf("%w: %w", replies.GaveUp(ctx), err))
		}
	}
}

// close drops a connection that nobody gets any more. It does not go back to the caller's pool, because our pragmas
// are set on it.
func (c *connection) close() error {
	var errs []error
	for _, stmt := range c.statements {
		errs = append(errs, stmt.Close())
	}
	return errors.Join(append(errs, dbms.Discard(c.Conn))...)
}
