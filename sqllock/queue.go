package sqllock

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// A row is a claim as it is stored.
type row struct {
	driver.Claim
	boot     string
	deadline int64
	since    int64
	client   string
	granted  bool
	revoked  bool
}

// scan reads a row; more is what comes before the columns that all statements return.
func scan(rows interface{ Scan(...any) error }, name string, more ...any) (row, error) {
	r := row{Claim: driver.Claim{Name: name, Queue: true}}
	var token int64
	var owner, value []byte
	err := rows.Scan(append(more, &token, &r.ID, &r.Weight, &r.Limit, (*int64)(&r.TTL), &r.boot, &r.deadline, &r.since,
		&r.client, &r.Detached, &r.granted, &r.revoked, &owner, &value)...)
	r.Token, r.Owner, r.Value = uint64(token), string(owner), string(value)
	return r, err
}

// alive reports whether a claim counts: its deadline lies ahead, on this boot, and its client lives if it must.
func (t *tx) alive(r row) bool {
	return r.boot == bootID() && r.deadline > t.now && (r.Detached || t.clientLives(r.client))
}

func (t *tx) clientLives(id string) bool {
	lives, known := t.lives[id]
	if !known {
		lives = t.d.client.sees(id)
		t.lives[id] = lives
	}
	return lives
}

// A front is the part of a queue that decides: the granted claims, and who is next.
type front struct {
	granted []row
	next    *row // the first that waits; nil when nobody does
}

// settle makes the front of a queue what it should be: dead claims are taken out, and claims that have become grantable
// are granted and their clients told. It reads no further than the first claim that has to wait.
func (t *tx) settle(name string) (front, error) {
	var f front
	var dead, fresh []row
	err := t.each(name, queueRows, []any{[]byte(name)}, func(r row) bool {
		switch {
		case !t.alive(r):
			dead = append(dead, r)
		case r.granted:
			f.granted = append(f.granted, r)
		case f.fits(r.Claim):
			r.granted = true
			f.granted, fresh = append(f.granted, r), append(fresh, r)
		default:
			f.next = &r
			return false
		}
		return true
	})
	for _, r := range dead {
		err = errors.Join(err, t.end(r, false))
	}
	for _, r := range fresh {
		err = errors.Join(err, t.exec(grantRow, []byte(name), int64(r.Token)))
		t.tell(r, true)
	}
	return f, err
}

// fits reports whether a claim that comes next would be granted.
func (f *front) fits(c driver.Claim) bool {
	claims := make([]driver.Claim, 0, len(f.granted)+1)
	for _, r := range f.granted {
		claims = append(claims, r.Claim)
	}
	return driver.Granted(append(claims, c), c.ID)
}

// each calls f with each row until that returns false.
func (t *tx) each(name string, s statement, args []any, f func(row) bool) error {
	rows, err := t.query(s, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		r, err := scan(rows, name)
		if err != nil {
			return err
		}
		if !f(r) {
			break
		}
	}
	return rows.Err()
}

// find returns a queued claim that is alive, or nil. A dead one is taken out on the way.
func (t *tx) find(name, id string) (*row, error) {
	stmt, err := t.stmt(findRow)
	if err != nil {
		return nil, err
	}
	r, err := scan(stmt.QueryRowContext(t.ctx, []byte(name), id), name)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, nil
	case err != nil:
		return nil, err
	case !t.alive(r):
		return nil, t.end(r, false)
	default:
		return &r, nil
	}
}

// end takes a claim out of its queue, and remembers how it ended.
func (t *tx) end(r row, released bool) error {
	return errors.Join(t.exec(deleteRow, []byte(r.Name), int64(r.Token)), t.bury(r.Claim, released))
}

// bury bars an ID for as long as a late copy of its request may arrive.
func (t *tx) bury(c driver.Claim, released bool) error {
	return t.exec(buryID, []byte(c.Name), c.ID, int64(c.Token), released, bootID(), t.now+2*int64(c.TTL))
}

// recall reports whether the claim's ID is barred, and whether it was released under its token.
func (t *tx) recall(c driver.Claim) (barred, released bool, err error) {
	var token int64
	err = t.get([]any{&token, &released}, recallID, []byte(c.Name), c.ID, bootID(), t.now)
	if errors.Is(err, sql.ErrNoRows) {
		return false, false, nil
	}
	return err == nil, released && (c.Token == 0 || c.Token == uint64(token)), err
}

// status answers about a claim, given the front of its queue.
func (t *tx) status(r row, f front) (driver.Status, error) {
	st := driver.Status{Token: r.Token, Granted: r.granted, TTL: r.TTL, Revoked: r.revoked}
	if f.next != nil && f.next.ID == r.ID {
		st.Retry = f.soonest(t.now)
	}
	err := t.each(r.Name, behindRows, []any{[]byte(r.Name), int64(r.Token)}, func(behind row) bool {
		st.Contended = t.alive(behind)
		return !st.Contended
	})
	return st, err
}

// soonest is how long until the first of the granted claims expires.
func (f *front) soonest(now int64) time.Duration {
	soonest := f.granted[0].deadline
	for _, r := range f.granted {
		soonest = min(soonest, r.deadline)
	}
	return time.Duration(max(soonest-now, 1))
}

// Queue implements [driver.Driver].
func (d *Driver) Queue(ctx context.Context, name string) (entries []driver.Entry, err error) {
	err = d.do(ctx, func(t *tx) error {
		entries = nil
		if _, err := t.settle(name); err != nil {
			return err
		}
		return t.each(name, queueRows, []any{[]byte(name)}, func(r row) bool {
			if t.alive(r) {
				entries = append(entries, r.entry(t.now))
			}
			return true
		})
	})
	return entries, err
}

func (r row) entry(now int64) driver.Entry {
	return driver.Entry{Claim: r.Claim, Granted: r.granted, Since: time.UnixMicro(r.since), Left: time.Duration(r.deadline - now)}
}
