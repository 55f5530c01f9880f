package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"time"
)

// A tx is a transaction.
type tx struct {
	ctx      context.Context
	d        *Driver
	now      time.Duration   // on the clock of deadlines
	alive    map[string]bool // clients, as far as this transaction has looked
	wakeups  []wakeup        // to be sent after the commit
	departed []string        // clients whose FIFOs are to be removed after the commit

	base, floor int64 // of tokens
	began       int64 // when the boot that deadlines belong to did, in microseconds since 1970
	lasts       bool  // something that was changed has to outlive the boot
}

// A wakeup tells a client that something happened to one of its claims.
type wakeup struct{ client, id string }

// transact runs f in a transaction, and sweeps in passing. It wakes others after the commit: before it, they would
// look and find nothing new.
func (d *Driver) transact(ctx context.Context, f func(*tx) error) error {
	sweeps := sync.OnceValue(d.sweepIsDue) // also when the transaction is begun again
	return d.change(ctx, func(t *tx) error {
		if err := t.open(); err != nil {
			return err
		}
		if sweeps() {
			if err := t.sweep(); err != nil {
				return err
			}
		}
		return f(t)
	})
}

// change runs f in a transaction, whatever is in the file.
func (d *Driver) change(ctx context.Context, f func(*tx) error) error {
	t := &tx{d: d}
	return d.conn.transact(ctx, func(ctx context.Context) error { return t.run(ctx, f) }, func() { d.deliver(t) })
}

// run runs f, and forgets an attempt that was rolled back.
func (t *tx) run(ctx context.Context, f func(*tx) error) error {
	*t = tx{d: t.d, ctx: ctx, now: now(), alive: make(map[string]bool)}
	if err := f(t); err != nil {
		return err
	}
	return t.ready()
}

// deliver tells those whom a committed transaction concerns, and removes the FIFOs of clients to which it left
// nothing.
func (d *Driver) deliver(t *tx) {
	for _, w := range t.wakeups {
		if w.client == d.client.id {
			d.notifier.wake(w.id)
		} else {
			d.client.wake(w.client, w.id)
		}
	}
	for _, id := range t.departed {
		d.database.folder.remove(id)
	}
}

// wake notes that the client of a claim is to be told.
func (t *tx) wake(r row) { t.wakeups = append(t.wakeups, wakeup{client: r.client, id: r.ID}) }

// isAlive reports whether a claim counts: it has not expired, and its client lives or has left it alone.
func (t *tx) isAlive(r row) bool {
	return r.deadline > t.now && (r.Detached || t.clientIsAlive(r.client))
}

// clientIsAlive looks once in a transaction, so that all of it sees the same.
func (t *tx) clientIsAlive(id string) bool {
	alive, known := t.alive[id]
	if !known {
		alive = t.d.client.isAlive(id)
		t.alive[id] = alive
	}
	return alive
}

func (t *tx) exec(s statement, args ...any) error {
	stmt, err := t.d.conn.prepared(t.ctx, s)
	if err != nil {
		return err
	}
	_, err = stmt.ExecContext(t.ctx, args...)
	return err
}

// script is exec for a script of several statements, without arguments. They are not prepared: most SQL drivers
// prepare only the first, or refuse to.
func (t *tx) script(s statement) error {
	_, err := t.d.conn.ExecContext(t.ctx, text(s))
	return err
}

// get reads one row into dest; found is false when there is none.
func (t *tx) get(s statement, args []any, dest ...any) (found bool, err error) {
	stmt, err := t.d.conn.prepared(t.ctx, s)
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
	stmt, err := t.d.conn.prepared(t.ctx, s)
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
