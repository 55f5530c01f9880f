package dbms

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// RollBack undoes a transaction of a connection, unless it has ended. If nobody can say that it has, because the server
// refuses or package sql has undone it when ctx ended, the session ends with it: whoever gets the connection next would
// be in that transaction, and what it has locked would stay so.
func RollBack(ctx context.Context, c *sql.Conn, tx *sql.Tx) {
	Within(ctx, func() {
		err := tx.Rollback()
		if err == nil || errors.Is(err, sql.ErrTxDone) && ctx.Err() == nil {
			return
		}
		_ = Discard(c) // what it cannot say any more, the server finds out
	})
}

// Commit commits a transaction of a connection. After an error the session ends, as in RollBack.
func Commit(ctx context.Context, c *sql.Conn, tx *sql.Tx) error {
	var err error
	answered := Within(ctx, func() {
		if err = tx.Commit(); err != nil {
			_ = Discard(c)
		}
	})
	if !answered {
		return context.Cause(ctx)
	}
	return err
}

// InTx runs f in a transaction of a connection, which sees what others have committed meanwhile, and commits it unless
// f fails.
func InTx(ctx context.Context, c *sql.Conn, f func(*sql.Tx) error) error {
	tx, err := c.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	if err != nil {
		return err
	}
	defer RollBack(ctx, c, tx) // nothing, once it was committed
	if err := f(tx); err != nil {
		return err
	}
	return Commit(ctx, c, tx)
}

// grace is how long the end of a transaction may take when the time for it is over: mostly it is there in an instant.
const grace = time.Second

// Within runs f, which ends a transaction or gives back a connection, and reports whether f has returned by the end of
// ctx, or a moment later. Package sql gives these no context, and not each SQL driver gives up waiting for a server
// that has stopped: then f goes on until the connection breaks. What f panics with is the caller's.
func Within(ctx context.Context, f func()) (returned bool) {
	done := make(chan any, 1)
	go func() {
		defer func() { done <- recover() }()
		f()
	}()
	select {
	case panicked := <-done:
		return passOn(panicked)
	case <-ctx.Done():
	}
	late := time.NewTimer(grace)
	defer late.Stop()
	select {
	case panicked := <-done:
		return passOn(panicked)
	case <-late.C:
		return false
	}
}

func passOn(panicked any) (returned bool) {
	if panicked != nil {
		panic(panicked)
	}
	return true
}
