package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/sqllock/internal/replies"
)

// A connection is the one that a driver has. Its goroutines take turns on it, so they never find the database busy
// with each other.
type connection struct {
	*sql.Conn
	free       chan struct{}    // holds a token while nobody uses the connection
	lines      [2]chan struct{} // who waits for free takes these first, from that of its rank on: see rank
	writers    *writerQueue     // of all processes
	life       context.Context
	end        context.CancelCauseFunc // of life
	statements map[statement]*sql.Stmt
	mayLag     bool // commits need not wait for the disk, unless what they change outlives the boot
	waits      bool // commits wait for it now
}

func openConnection(ctx context.Context, db *sql.DB) (*connection, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	c := &connection{Conn: conn, statements: make(map[statement]*sql.Stmt), free: make(chan struct{}, 1)}
	c.life, c.end = context.WithCancelCause(context.Background())
	c.free <- struct{}{}
	for i := range c.lines {
		c.lines[i] = make(chan struct{}, 1)
		c.lines[i] <- struct{}{}
	}
	return c, nil
}

// A rank says who gets the connection next. Those of one rank get it in the order in which they came, and before all of
// lower ranks but the first.
type rank int

const (
	asking  rank = iota // for something new
	passing             // those who ask: for what is about a claim that is there, or a queue as it is
	staying             // renewing: a lease must not end because much is asked for, or given back
)

// take waits until nobody else uses the connection. The caller gives it back. The context that take returns ends with
// the connection, too.
func (c *connection) take(ctx context.Context, r rank) (_ context.Context, giveBack func(), err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(c.life, func() { cancel(driver.ErrClosed) })
	release := func() {
		stop()
		cancel(nil)
	}
	if err := c.await(ctx, r); err != nil {
		release()
		return nil, nil, err
	}
	return ctx, func() {
		c.free <- struct{}{}
		release()
	}, nil
}

func (c *connection) await(ctx context.Context, r rank) error {
	for _, line := range c.lines[r:] {
		if err := takeFrom(ctx, line); err != nil {
			return err
		}
		defer func() { line <- struct{}{} }()
	}
	return takeFrom(ctx, c.free)
}

func takeFrom(ctx context.Context, tokens <-chan struct{}) error {
	select {
	case <-tokens:
		return nil
	case <-ctx.Done():
		return unsent(replies.GaveUp(ctx))
	}
}

// write runs f in a transaction that may change something, again while others are in the way, until ctx ends. It takes
// the connection first: only one goroutine of a process stands in the queue of the processes that want to write. After
// the commit committed is called: later than write returns, where ctx ends while the disk is slow.
func (c *connection) write(ctx context.Context, r rank, f func(context.Context) error, committed func()) error {
	w := writing{c: c, rank: r, committed: committed}
	err := w.run(ctx, f)
	if w.left == nil && err == nil {
		committed()
	}
	return err
}

// read runs f in a transaction that changes nothing.
func (c *connection) read(ctx context.Context, f func(context.Context) error) error {
	ctx, giveBack, err := c.take(ctx, passing)
	if err != nil {
		return err
	}
	defer giveBack()
	return c.look(ctx, f)
}

// look is read for who has the connection.
func (c *connection) look(ctx context.Context, f func(context.Context) error) error {
	return explain(c.untilFree(ctx, func() error { return c.once(ctx, beginReading, f, c.commit) }))
}

// once runs a transaction. After it has begun it does not end with ctx: it is quick, but for what commit waits for, and
// breaking it off would leave unknown what it did. A panic of the SQL driver ends it: left open, it would hold up
// everybody until this process ends.
func (c *connection) once(
	ctx context.Context, begin string, f func(context.Context) error, commit func(context.Context) error,
) error {
	if ctx.Err() != nil {
		return unsent(replies.GaveUp(ctx))
	}
	ctx = context.WithoutCancel(ctx)
	if _, err := c.ExecContext(ctx, begin); err != nil {
		return uncommitted(err)
	}
	ran := false
	defer func() {
		if !ran {
			c.rollBack(ctx)
		}
	}()
	err := f(ctx)
	ran = true
	if err != nil {
		c.undo(ctx, err)
		return uncommitted(err)
	}
	return commit(ctx)
}

func (c *connection) commit(ctx context.Context) error {
	_, err := c.ExecContext(ctx, "COMMIT")
	if err != nil {
		c.undo(ctx, err)
	}
	return err
}

// A writing is a call of write.
type writing struct {
	c         *connection
	rank      rank
	committed func()
	left      error // says that the caller does not wait for the commit any more
}

func (w *writing) run(ctx context.Context, f func(context.Context) error) error {
	c := w.c
	inside, giveBack, err := c.take(ctx, w.rank)
	if err != nil {
		return err
	}
	if err := c.writers.enter(inside); err != nil {
		giveBack()
		return unsent(err)
	}
	over := func() {
		c.writers.leave()
		giveBack()
	}
	defer func() {
		if w.left == nil {
			over()
		}
	}()
	commit := func(begun context.Context) error { return w.commit(ctx, begun, over) }
	err = explain(c.untilFree(inside, func() error {
		once := func() error { return c.once(inside, beginWriting, f, commit) }
		if err := c.asNeeded(inside, once); w.left == nil {
			return err
		}
		return nil // there is nothing to repeat, whatever is in that error
	}))
	return cmp.Or(w.left, err)
}

// commit ends the transaction that has begun. It waits for the disk, which may take long, and no longer than ctx. Then
// nobody knows what comes of it, and the turn is over when the disk is done.
func (w *writing) commit(ctx, begun context.Context, over func()) error {
	done := make(chan commit, 1)
	go func() { done <- w.c.tryCommit(begun) }()
	select {
	case made := <-done:
		if made.panicked != nil {
			panic(made.panicked)
		}
		return made.err
	case <-ctx.Done():
	}
	w.left = fmt.Errorf("%w, while the disk was waited for", replies.GaveUp(ctx))
	go func() { // ends when the disk is done
		defer over()
		if made := <-done; made.err == nil && made.panicked == nil {
			w.committed()
		}
	}()
	return w.left
}

// A commit is what came of one.
type commit struct {
	err      error
	panicked any // what the SQL driver panicked with, which is the caller's
}

func (c *connection) tryCommit(ctx context.Context) (made commit) {
	defer func() {
		if made.panicked = recover(); made.panicked != nil {
			c.rollBack(ctx)
		}
	}()
	return commit{err: c.commit(ctx)}
}

// undo ends a transaction that failed. If the disk is full, the write-ahead log may be what fills it. Then the log is
// moved into the database, so that its room can be used again: SQLite does so by itself only after a commit, and there
// is none as long as the disk is full.
func (c *connection) undo(ctx context.Context, why error) {
	c.rollBack(ctx)
	if code, _ := saidBy(why); code == codeFull {
		c.ExecContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)") // the next attempt shows whether there is room
	}
}

// rollBack ends the transaction, unless the database has done so. After a panic another one says nothing new.
func (c *connection) rollBack(ctx context.Context) {
	defer func() { _ = recover() }()
	c.ExecContext(ctx, "ROLLBACK") // it fails when there is none
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

// prepared returns a statement, which is prepared when it is first used.
func (c *connection) prepared(ctx context.Context, name statement) (*sql.Stmt, error) {
	if stmt, ok := c.statements[name]; ok {
		return stmt, nil
	}
	stmt, err := c.PrepareContext(ctx, text(name))
	if err == nil {
		c.statements[name] = stmt
	}
	return stmt, err
}

// retire waits until nobody uses the connection, and takes it for close: nobody gets it any more.
func (c *connection) retire() {
	c.end(driver.ErrClosed)
	<-c.free
}

// close drops a connection that has retired. It does not go back to the caller's pool, because our pragmas are set on
// it.
func (c *connection) close() error {
	var errs []error
	for _, stmt := range c.statements {
		errs = append(errs, stmt.Close())
	}
	err := c.Raw(func(any) error { return sqldriver.ErrBadConn })
	if !errors.Is(err, sqldriver.ErrBadConn) {
		errs = append(errs, err)
	}
	if c.writers != nil {
		errs = append(errs, c.writers.close())
	}
	return errors.Join(errs...)
}
