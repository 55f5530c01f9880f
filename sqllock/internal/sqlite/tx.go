package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// A tx is a transaction.
type tx struct {
	ctx    context.Context
	d      *Driver
	now    time.Duration   // on the clock of deadlines
	lives  map[string]bool // clients, as far as they were looked at
	rings  []ring          // to be delivered once it is committed
	buried []string        // clients of which nothing is left, once it is committed
}

// A ring tells a client that something happened to one of its claims.
type ring struct{ client, id string }

// write runs f in a transaction that may change something, and then tells whom that concerns.
func (d *Driver) write(ctx context.Context, f func(*tx) error) error {
	t := &tx{d: d}
	err := d.session.write(ctx, func(ctx context.Context) error {
		t.start(ctx)
		if err := t.open(); err != nil {
			return err
		}
		if d.sweepIsDue() {
			if err := t.sweep(); err != nil {
				return err
			}
		}
		return f(t)
	})
	if err == nil || errors.Is(err, driver.ErrGone) {
		d.deliver(t)
	}
	return err
}

// read runs f in a transaction that changes nothing.
func (d *Driver) read(ctx context.Context, f func(*tx) error) error {
	look := func(ctx context.Context) error {
		t := &tx{d: d}
		t.start(ctx)
		if err := t.check(); err != nil {
			return err
		}
		return f(t)
	}
	err := d.session.read(ctx, look)
	if errors.Is(err, errOtherBoot) {
		if err = d.write(ctx, func(*tx) error { return nil }); err == nil {
			err = d.session.read(ctx, look)
		}
	}
	return err
}

// start forgets an attempt that was rolled back.
func (t *tx) start(ctx context.Context) {
	*t = tx{d: t.d, ctx: ctx, now: t.d.machine.now(), lives: make(map[string]bool)}
}

// deliver tells those whom a committed transaction concerns.
func (d *Driver) deliver(t *tx) {
	for _, r := range t.rings {
		if r.client == d.client.id {
			d.posts.ring(r.id)
		} else {
			d.client.ring(r.client, r.id)
		}
	}
	for _, id := range t.buried {
		d.client.bury(id)
	}
}

// ring notes that the client of a claim is to be told.
func (t *tx) ring(r row) { t.rings = append(t.rings, ring{client: r.client, id: r.ID}) }

// isAlive reports whether a claim counts: it has not expired, and its client lives where it must.
func (t *tx) isAlive(r row) bool {
	return r.deadline > t.now && (r.Detached || t.clientLives(r.client))
}

func (t *tx) clientLives(id string) bool {
	lives, known := t.lives[id]
	if !known {
		lives = t.d.client.sees(id)
		t.lives[id] = lives
	}
	return lives
}

func (t *tx) exec(s statement, args ...any) error {
	stmt, err := t.d.session.prepared(t.ctx, s)
	if err != nil {
		return err
	}
	_, err = stmt.ExecContext(t.ctx, args...)
	return err
}

// get reads one row into dest; found is false when there is none.
func (t *tx) get(s statement, args []any, dest ...any) (found bool, err error) {
	stmt, err := t.d.session.prepared(t.ctx, s)
	if err != nil {
		return false, err
	}
	err = stmt.QueryRowContext(t.ctx, args...).Scan(dest...)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// each calls f with each row until f returns false.
func (t *tx) each(s statement, args []any, f func(scan func(...any) error) (bool, error)) error {
	stmt, err := t.d.session.prepared(t.ctx, s)
	if err != nil {
		return err
	}
	rows, err := stmt.QueryContext(t.ctx, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if more, err := f(rows.Scan); err != nil || !more {
			return err
		}
	}
	return rows.Err()
}
