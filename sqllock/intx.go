package sqllock

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/dbms"
	"github.com/holdfast-go/holdfast/sqllock/internal/sqlite"
)

// InTx runs fn in a transaction that holds the lock with this name from its first statement to its end: lock and data
// are committed together, or neither is. There is no lease, so nothing can expire while fn runs, and a client that
// dies is rolled back and unlocked by the database. It needs the table that [MigrateInTx] makes.
//
//   - The transaction is READ COMMITTED: fn sees all that earlier holders have committed.
//   - When fn returns an error, or panics, the transaction is rolled back. InTx returns the error of fn as it is.
//   - When the database undoes the transaction to end a deadlock or a conflict (1213, 3101, 40001, 40P01), InTx
//     runs it again, and fn with it, so that what fn does outside of the transaction happens twice. InTx can tell only
//     if fn returns the errors of tx.
//   - InTx waits for a lock that is taken until ctx ends; with [NoWait] or [SkipLocked] it does not wait. The error
//     matches [holdfast.ErrNotAcquired], and the cause of ctx if that ended the wait.
//   - When the answer to the COMMIT is lost, or is not there a second after ctx has ended, the error matches
//     [holdfast.ErrUnknown].
//   - InTx within InTx for the same name waits for itself. Each takes one connection of db.
//
// [Share] is for readers, which keep writers out but not each other; where several servers write, as those of Galera,
// they keep out each other, too. The database decides in which order it serves the waiters, and when it ends the
// transaction of a client that was cut off: keep fn short.
//
// With SQLite the lock is the whole database file, whatever the name, as for any transaction that writes. With Share,
// NoWait and SkipLocked the error matches [errors.ErrUnsupported] there.
//
// [holdfast.ErrNotAcquired]: https://pkg.go.dev/github.com/holdfast-go/holdfast#ErrNotAcquired
// [holdfast.ErrUnknown]: https://pkg.go.dev/github.com/holdfast-go/holdfast#ErrUnknown
func InTx(ctx context.Context, db *sql.DB, name string, fn func(context.Context, *sql.Tx) error, how ...RowLock) error {
	l, err := newTxLock(ctx, db, name, how)
	if err != nil {
		return err
	}
	pace := driver.Backoff{First: firstPause, Most: lastPause, Scatter: true}
	for {
		again, err := l.once(ctx, fn)
		if !again {
			return err
		}
		if pace.Pause(ctx) != nil {
			return l.notAcquired(context.Cause(ctx), err)
		}
	}
}

// Bounds of the pauses between two transactions. They are short at first, because most transactions that are in the way
// take less than a millisecond.
const (
	firstPause = 200 * time.Microsecond
	lastPause  = 10 * time.Millisecond
)

// once runs the transaction once, and tells whether to run it again.
func (l *txLock) once(ctx context.Context, fn func(context.Context, *sql.Tx) error) (again bool, err error) {
	conn, err := l.db.Conn(ctx)
	if err != nil {
		return false, l.failed(ctx, err)
	}
	defer dbms.Within(ctx, func() { conn.Close() })
	tx, err := conn.BeginTx(ctx, l.isolation())
	if err != nil {
		return l.repeats(err), l.failed(ctx, err)
	}
	defer l.rollBack(ctx, conn, tx) // nothing, once it was committed
	switch err := l.take(ctx, tx); {
	case errors.Is(err, errNoRow):
		if l.rollBack(ctx, conn, tx); ctx.Err() != nil {
			return false, l.failed(ctx, err)
		}
		return l.makeRow(ctx, conn)
	case err != nil:
		return l.repeats(err), l.failed(ctx, err)
	}
	if err := fn(ctx, tx); err != nil {
		return dbms.Undone(err), err
	}
	return l.commit(ctx, conn, tx)
}

// rollBack undoes a transaction, unless it has ended. SQLite cannot refuse that, and a database in memory would be gone
// with its connection.
func (l *txLock) rollBack(ctx context.Context, conn *sql.Conn, tx *sql.Tx) {
	if l.kind == dbms.SQLite {
		tx.Rollback()
		return
	}
	dbms.RollBack(ctx, conn, tx)
}

// repeats reports whether to begin a transaction again after an error, before it has done anything.
func (l *txLock) repeats(err error) bool {
	isTaken := dbms.Taken(err) || l.kind == dbms.SQLite && sqlite.IsBusy(err)
	return dbms.Undone(err) || isTaken && l.how.waits() || errors.Is(err, sqldriver.ErrBadConn)
}

// failed is the error of a transaction that has done nothing.
func (l *txLock) failed(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return l.notAcquired(context.Cause(ctx))
	case dbms.Taken(err):
		return l.notAcquired(errTaken, err)
	case dbms.NoTable(err):
		err = fmt.Errorf("the table %s is missing; create it with sqllock.MigrateInTx: %w", rowTable, err)
	}
	return fmt.Errorf("lock %q in a transaction on %v: %w", l.name, l.kind, err)
}

var errTaken = errors.New("it is taken; try later, or wait for it")

func (l *txLock) notAcquired(reasons ...error) error {
	err := fmt.Errorf("lock %q in a transaction on %v: %w", l.name, l.kind, driver.ErrNotAcquired)
	for _, reason := range reasons {
		err = fmt.Errorf("%w: %w", err, reason)
	}
	return err
}

// commit ends the transaction. If the database answers, it was certainly not committed; if no answer comes, that is
// unknown.
func (l *txLock) commit(ctx context.Context, conn *sql.Conn, tx *sql.Tx) (again bool, _ error) {
	var err error
	if !dbms.Within(ctx, func() { err = tx.Commit() }) {
		return false, l.unknown(context.Cause(ctx))
	}
	switch {
	case err == nil:
		return false, nil
	case errors.Is(err, sql.ErrTxDone) && ctx.Err() == nil:
		return false, fmt.Errorf("the function given to InTx ended the transaction of lock %q; leave that to InTx",
			l.name)
	case errors.Is(err, sql.ErrTxDone), err == ctx.Err(): // package sql did not send it
		return false, fmt.Errorf("lock %q: nothing was committed: %w", l.name, context.Cause(ctx))
	case dbms.Undone(err):
		return true, l.notAcquired(err)
	case l.kind == dbms.SQLite:
		_, undo := conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK") // a busy COMMIT leaves it open
		return false, errors.Join(fmt.Errorf("lock %q: commit: %w", l.name, err), undo)
	case dbms.NotCommitted(err):
		return false, fmt.Errorf("lock %q: nothing was committed: %w", l.name, err)
	}
	_ = dbms.Discard(conn) // the transaction may go on, if the server has refused to end it
	return false, l.unknown(err)
}

// unknown is the error of a COMMIT to which the database has not answered what came of it.
func (l *txLock) unknown(reason error) error {
	return fmt.Errorf("lock %q: %w, so look whether the transaction was committed: %w",
		l.name, driver.ErrUnknown, reason)
}
