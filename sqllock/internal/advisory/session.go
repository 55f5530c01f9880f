package advisory

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/dbms"
)

// A session is a connection that was made ready for one claim. It never goes back to the pool that it is from.
type session struct {
	conn    *sql.Conn
	dialect *Dialect
	id      int64         // the server's number for it; 0 until that is known
	ttl     time.Duration // after which the server ends it when it is idle
}

// open opens a session that the server ends when it has been idle for the TTL.
func (d *Driver) open(ctx context.Context, ttl time.Duration) (*session, error) {
	conn, err := d.db.Conn(ctx)
	if err != nil {
		return nil, d.dialect.explain(err)
	}
	s := &session{conn: conn, dialect: d.dialect, ttl: ttl}
	statement := d.dialect.ready(ttl, d.waitFor(ttl))
	if _, err := conn.ExecContext(ctx, statement); err != nil {
		s.close()
		return nil, d.dialect.explain(err)
	}
	return s, nil
}

// leaseFor sets another TTL.
func (s *session) leaseFor(ctx context.Context, ttl time.Duration) error {
	if ttl == s.ttl {
		return nil
	}
	_, err := s.conn.ExecContext(ctx, s.dialect.lease(ttl))
	if err == nil {
		s.ttl = ttl
	}
	return err
}

// Bounds of the pauses between two attempts of a statement that was in the way of others.
const firstPause, lastPause = time.Millisecond, 50 * time.Millisecond

// ask runs a script, whose last statement returns a row, or with no dest may return nothing. Statements that were in
// the way of others are repeated.
func (s *session) ask(ctx context.Context, what script, v values, dest ...any) error {
	statements := s.dialect.statements(what, v)
	for i, statement := range statements {
		run := func() error { return s.row(ctx, statement, dest) }
		if i < len(statements)-1 || len(dest) == 0 {
			run = func() error {
				_, err := s.conn.ExecContext(ctx, statement)
				return err
			}
		}
		if err := s.untilFree(ctx, run); err != nil {
			return s.dialect.explain(err)
		}
	}
	return nil
}

func (s *session) row(ctx context.Context, statement string, dest []any) error {
	return s.conn.QueryRowContext(ctx, statement).Scan(dest...)
}

func (s *session) untilFree(ctx context.Context, run func() error) error {
	pace := driver.Backoff{First: firstPause, Most: lastPause, Scatter: true}
	for {
		err := run()
		if err == nil || !s.dialect.isBusy(err) {
			return err
		}
		if pace.Pause(ctx) != nil {
			return err
		}
	}
}

// An answer is what the scripts lock and try return.
type answer struct {
	got, ended, known bool
}

// lock asks for the lock of a claim. If blocks is true, it waits for a while.
func (s *session) lock(ctx context.Context, v values, blocks bool) (a answer, err error) {
	what := lock
	if !blocks {
		what, v.wait = s.dialect.try, 0
	}
	var id int64
	if err := s.ask(ctx, what, v, &id, &a.got, &a.ended, &a.known); err != nil {
		return a, err
	}
	return a, s.isStill(id)
}

// isStill fails if another session has answered than before.
func (s *session) isStill(id int64) error {
	if s.id == 0 {
		s.id = id
	}
	if id != s.id {
		return fmt.Errorf("%w: session %d answers for %d", ErrPooled, id, s.id)
	}
	return nil
}

// close ends the session, and so frees its lock.
func (s *session) close() error { return dbms.Discard(s.conn) }
