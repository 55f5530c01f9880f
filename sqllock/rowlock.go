package sqllock

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/dbms"
)

// A RowLock says how a row is locked, as in Share|NoWait.
type RowLock uint8

const (
	// Share lets others share the row, but nobody have it alone.
	Share RowLock = 1 << iota
	// NoWait fails at once when the row is taken. In PostgreSQL that ends the transaction.
	NoWait
	// SkipLocked leaves out rows that are taken, as if they were not there.
	SkipLocked

	// Exclusive waits for the row, and shares it with nobody.
	Exclusive RowLock = 0
)

// ForUpdate queries rows of the caller's own tables, and locks them until the transaction ends. The query is a SELECT
// that FOR UPDATE may be appended to. An error that matches [holdfast.ErrNotAcquired] says that a row is taken: with
// NoWait at once, otherwise after the database's own limit, or because waiting any longer would be a deadlock. Roll
// the transaction back then, as [InTx] does when its function returns the error.
//
// SQLite locks no rows, but the whole file with the first write. There, the error matches [errors.ErrUnsupported].
//
// [holdfast.ErrNotAcquired]: https://pkg.go.dev/github.com/holdfast-go/holdfast#ErrNotAcquired
func ForUpdate(ctx context.Context, tx *sql.Tx, how RowLock, query string, args ...any) (*Rows, error) {
	clause, err := how.clause(ctx, tx)
	if err != nil {
		return nil, err
	}
	rows, err := tx.QueryContext(ctx, query+"\n"+clause, args...)
	if err != nil {
		return nil, rowError(err)
	}
	return &Rows{rows}, nil
}

// Rows are the rows that [ForUpdate] found. Close them like any other [sql.Rows].
type Rows struct{ *sql.Rows }

// Err is [sql.Rows.Err]. Its errors have the same meaning as those of ForUpdate.
func (r *Rows) Err() error { return rowError(r.Rows.Err()) }

// clause asks which database it is only if the databases differ: that takes a round trip.
func (how RowLock) clause(ctx context.Context, q dbms.Querier) (string, error) {
	if err := how.valid(); err != nil || how&Share == 0 {
		return how.on(dbms.MySQL), err
	}
	kind, err := dbms.Ask(ctx, q)
	return how.on(kind), err
}

// valid refuses flags that contradict each other.
func (how RowLock) valid() error {
	if how&NoWait != 0 && how&SkipLocked != 0 {
		return errors.New("sqllock: NoWait fails where SkipLocked goes on; choose one of them")
	}
	if how&^(Share|NoWait|SkipLocked) != 0 {
		return fmt.Errorf("sqllock: there is no RowLock %d", how)
	}
	return nil
}

// waits reports whether a taken row is waited for.
func (how RowLock) waits() bool { return how&(NoWait|SkipLocked) == 0 }

// on is the end of a SELECT.
func (how RowLock) on(kind dbms.Kind) string {
	words := []string{"FOR UPDATE"}
	switch {
	case how&Share != 0 && kind == dbms.MariaDB:
		words = []string{"LOCK IN SHARE MODE"}
	case how&Share != 0:
		words = []string{"FOR SHARE"}
	}
	if how&NoWait != 0 {
		words = append(words, "NOWAIT")
	}
	if how&SkipLocked != 0 {
		words = append(words, "SKIP LOCKED")
	}
	return strings.Join(words, " ")
}

// rowError says what an error of a locking query means for the caller.
func rowError(err error) error {
	switch {
	case err == nil:
		return nil
	case dbms.Taken(err):
		return fmt.Errorf("%w: the row is taken; try later, or wait for it: %w", driver.ErrNotAcquired, err)
	case dbms.Undone(err):
		return fmt.Errorf("%w: run the transaction again, because it was undone: %w", driver.ErrNotAcquired, err)
	case dbms.LocksNoRows(err):
		return fmt.Errorf("%w: SQLite locks no rows; use InTx, which locks the file: %w", errors.ErrUnsupported, err)
	}
	return err
}
