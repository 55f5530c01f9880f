package advisory

import (
	"context"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/internal/dbms"
	"github.com/holdfast-go/holdfast/sqllock/internal/server"
)

// A session is a connection that was made ready for one claim. It never goes back to the pool that it is from.
type session struct {
	server.Conn
	driver *Driver
	id     int64         // the server's number for it; 0 until that is known
	ttl    time.Duration // after which the server ends it when it is idle
}

// open opens a session that the server ends when it has been idle for the TTL.
func (d *Driver) open(ctx context.Context, ttl time.Duration) (*session, error) {
	conn, err := d.db.Conn(ctx)
	if err != nil {
		return nil, explain(err)
	}
	s := &session{Conn: server.Conn{Conn: conn, Explain: explain}, driver: d}
	if err := s.setTTL(ctx, "ready", ttl); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// leaseFor sets another TTL.
func (s *session) leaseFor(ctx context.Context, ttl time.Duration) error {
	if s.driver.whole(ttl) == s.ttl {
		return nil
	}
	return s.setTTL(ctx, "lease", ttl)
}

func (s *session) setTTL(ctx context.Context, by string, ttl time.Duration) error {
	ttl = s.driver.whole(ttl)
	err := s.ask(ctx, by, values{idle: int64(ttl / s.driver.nature.unit), wait: s.driver.waitFor(ttl)})
	if err == nil {
		s.ttl = ttl
	}
	return err
}

// whole rounds a TTL up to what the server can be told.
func (d *Driver) whole(ttl time.Duration) time.Duration {
	return (ttl + d.nature.unit - 1).Truncate(d.nature.unit)
}

// ask runs a script, whose last statement returns a row, or with no dest may return nothing.
func (s *session) ask(ctx context.Context, what string, v values, dest ...any) error {
	statements := s.driver.dialect.statements(what, v)
	for i, statement := range statements {
		var err error
		if i == len(statements)-1 && len(dest) > 0 {
			err = s.Row(ctx, statement, dest...)
		} else {
			_, err = s.Do(ctx, statement)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// An answer is what the scripts lock and try return.
type answer struct {
	got, ended, known bool
}

// lock asks for the lock of a claim. If blocks is true, it waits for a while.
func (s *session) lock(ctx context.Context, v values, blocks bool) (a answer, err error) {
	what := "lock"
	if !blocks {
		what, v.wait = s.driver.dialect.try, 0
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
func (s *session) close() error { return dbms.Discard(s.Conn.Conn) }
