package servertables

import (
	"context"
	"database/sql"
	"errors"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/sqllock/internal/health"
)

// These statements take a lock that nobody has and nobody waits for, and leave it. A routine around them takes half as
// long again, so they are sent as they are. But where they do nothing a routine must look, which costs one more round
// trip, and a client that comes meanwhile has no wake lock to sleep on. So they are sent only after so many locks in a
// row were free that hardly anybody seems to contend.
const manyFree = 8

// requestAlone requests a claim that may have its lock to itself. It returns an empty status where it did nothing.
func (d *Driver) requestAlone(ctx context.Context, l *lane, c driver.Claim) (st driver.Status, err error) {
	if c.Token != 0 || c.Detached || !d.sendsStatements(l, c.Name) {
		return st, nil
	}
	stmt, err := l.conn.statement(ctx, "take")
	if err != nil {
		return st, err
	}
	token, err := d.dialect.taken(ctx, stmt, c, driver.SeriesStart(c.ID))
	switch {
	case err != nil:
		l.conn.lookAt(err)
	case token == 0:
		d.notice(false)
	default:
		st = driver.Status{Token: uint64(token), Granted: true, TTL: fromMicros(micros(c.TTL))}
	}
	return st, err
}

// releaseAlone releases a claim that may have its lock to itself, and reports whether it did.
func (d *Driver) releaseAlone(ctx context.Context, l *lane, c driver.Claim) (bool, error) {
	if c.Token == 0 || l.wakeLocks.held(c.ID) > 0 || !d.sendsStatements(l, c.Name) {
		return false, nil
	}
	stmt, err := l.conn.statement(ctx, "leave")
	if err != nil {
		return false, err
	}
	result, err := stmt.ExecContext(ctx, []byte(c.Name), c.ID, int64(c.Token))
	if err != nil {
		l.conn.lookAt(err)
		return false, err
	}
	n, err := result.RowsAffected()
	if n == 0 && err == nil {
		d.notice(false) // somebody has come
	}
	return n > 0, err
}

// sendsStatements reports whether a statement is likely to do for a lock. A session that others use, too, has not the
// settings that it needs.
func (d *Driver) sendsStatements(l *lane, name string) bool {
	return d.findsFree() && !l.conn.shared && !d.following.awaits(name)
}

// findsFree reports whether many locks in a row were free.
func (d *Driver) findsFree() bool { return d.found.Load() >= manyFree }

// notice notes whether a lock was free.
func (d *Driver) notice(free bool) {
	if !free {
		d.found.Store(0)
	} else if !d.findsFree() {
		d.found.Add(1)
	}
}

// lookAt notes what an error says about sessions.
func (c *conn) lookAt(err error) {
	if health.Stray(err) {
		c.endpoint.shared.Store(true)
	}
}

// takenOnPostgres returns the token under which a claim was granted, or 0.
func takenOnPostgres(ctx context.Context, stmt *sql.Stmt, c driver.Claim, before string) (token int64, err error) {
	err = stmt.QueryRowContext(ctx, []byte(c.Name), c.ID, c.Weight, c.Limit, micros(c.TTL), []byte(c.Owner),
		[]byte(c.Value), before).Scan(&token)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return token, err
}

// takenOnMySQL returns the token under which a claim was granted, or 0.
func takenOnMySQL(ctx context.Context, stmt *sql.Stmt, c driver.Claim, before string) (int64, error) {
	ttl := micros(c.TTL)
	result, err := stmt.ExecContext(ctx, ttl, c.Weight, c.Limit, ttl, []byte(c.Owner), []byte(c.Value), c.ID,
		[]byte(c.Name), before, c.ID)
	if err != nil {
		return 0, err
	}
	if n, err := result.RowsAffected(); n == 0 || err != nil {
		return 0, err
	}
	return result.LastInsertId()
}
