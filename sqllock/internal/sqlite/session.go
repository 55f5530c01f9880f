package sqlite

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// A session is the connection of a driver. Transactions take turns on it: goroutines of one client never find the
// database busy with each other.
type session struct {
	conn       *sql.Conn
	turn       chan struct{} // holds a token while nobody uses the connection
	machine    *turn         // among all processes that write
	open       context.Context
	end        context.CancelCauseFunc // of open
	statements map[statement]*sql.Stmt
}

func newSession(ctx context.Context, db *sql.DB) (*session, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	s := &session{
		conn: conn, statements: make(map[statement]*sql.Stmt),
		turn: make(chan struct{}, 1),
	}
	s.open, s.end = context.WithCancelCause(context.Background())
	s.turn <- struct{}{}
	return s, nil
}

// take waits for the turn of the caller, who gives it back. The context that it returns ends with the session, too.
func (s *session) take(ctx context.Context) (_ context.Context, giveBack func(), err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(s.open, func() { cancel(driver.ErrClosed) })
	release := func() {
		stop()
		cancel(nil)
	}
	select {
	case <-s.turn:
	case <-ctx.Done():
		release()
		return nil, nil, unsent(context.Cause(ctx))
	}
	return ctx, func() {
		s.turn <- struct{}{}
		release()
	}, nil
}

// write runs f in a transaction that may change something, again while others are in the way, until ctx ends. What f
// reports as an answer is committed like a success: f may have taken dead claims out of the queue.
func (s *session) write(ctx context.Context, f func(context.Context) error) error {
	ctx, giveBack, err := s.take(ctx)
	if err != nil {
		return err
	}
	defer giveBack()
	if err := s.machine.take(ctx); err != nil {
		return unsent(err)
	}
	defer s.machine.pass()
	return explain(s.untilFree(ctx, func() error { return s.once(ctx, beginWriting, f) }))
}

// read runs f in a transaction that changes nothing.
func (s *session) read(ctx context.Context, f func(context.Context) error) error {
	ctx, giveBack, err := s.take(ctx)
	if err != nil {
		return err
	}
	defer giveBack()
	return explain(s.untilFree(ctx, func() error { return s.once(ctx, beginReading, f) }))
}

// once runs a transaction. Once begun it does not end with ctx, so that little is ever unknown: it is quick.
func (s *session) once(ctx context.Context, begin string, f func(context.Context) error) error {
	if ctx.Err() != nil {
		return unsent(context.Cause(ctx))
	}
	ctx = context.WithoutCancel(ctx)
	if _, err := s.conn.ExecContext(ctx, begin); err != nil {
		return err
	}
	answer := f(ctx)
	if answer != nil && !errors.Is(answer, driver.ErrGone) {
		s.rollBack(ctx)
		return answer
	}
	if _, err := s.conn.ExecContext(ctx, "COMMIT"); err != nil {
		s.rollBack(ctx)
		return err
	}
	return answer
}

// rollBack ends the transaction, unless the database has done so.
func (s *session) rollBack(ctx context.Context) {
	s.conn.ExecContext(ctx, "ROLLBACK") // it fails when there is none
}

// unsent marks an error of a request of which nothing came: it has not begun, or was rolled back.
func unsent(err error) error { return fmt.Errorf("%w: %w", driver.ErrUnsent, err) }

// Pauses between two attempts: short at first, since most transactions take less than a millisecond, and drawn at random,
// so that those who collide do not collide again.
const (
	firstPause = 200 * time.Microsecond
	lastPause  = 10 * time.Millisecond
)

// untilFree repeats f while others are in the way, until ctx ends.
func (s *session) untilFree(ctx context.Context, f func() error) error {
	pace := driver.Backoff{First: firstPause, Most: lastPause, Scatter: true}
	for {
		err := f()
		if err == nil || !IsBusy(err) {
			return err
		}
		if pace.Pause(ctx) != nil {
			return unsent(fmt.Errorf("%w: %w", context.Cause(ctx), err))
		}
	}
}

// prepared returns a statement, which is prepared when it is first used.
func (s *session) prepared(ctx context.Context, name statement) (*sql.Stmt, error) {
	if stmt, ok := s.statements[name]; ok {
		return stmt, nil
	}
	stmt, err := s.conn.PrepareContext(ctx, text(name))
	if err == nil {
		s.statements[name] = stmt
	}
	return stmt, err
}

// close waits for the turn and gives up the connection, which is not fit for others since it was changed for us.
func (s *session) close() error {
	s.end(driver.ErrClosed)
	<-s.turn
	var errs []error
	for _, stmt := range s.statements {
		errs = append(errs, stmt.Close())
	}
	err := s.conn.Raw(func(any) error { return sqldriver.ErrBadConn })
	if !errors.Is(err, sqldriver.ErrBadConn) {
		errs = append(errs, err)
	}
	if s.machine != nil {
		errs = append(errs, s.machine.close())
	}
	return errors.Join(errs...)
}
