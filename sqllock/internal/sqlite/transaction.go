package sqlite

import (
	"context"
	"database/sql"
	"sync"
	"time"
)

// A tx is a transaction. Once a statement has failed the others do nothing and find nothing, and the transaction is
// rolled back: so nobody has to look for an error in between.
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
	err         error // the first one
}

// A wakeup tells a client that something happened to one of its claims.
type wakeup struct{ client, id string }

// transact runs f in a transaction, and sweeps in passing. It wakes others after the commit: before it, they would
// look and find nothing new.
func (d *Driver) transact(ctx context.Context, f func(*tx)) error {
	sweeps := sync.OnceValue(d.sweepIsDue) // also when the transaction is begun again
	return d.change(ctx, func(t *tx) {
		if t.open(); t.err == nil && sweeps() {
			t.sweep()
		}
		if t.err == nil {
			f(t)
		}
	})
}

// change runs f in a transaction, whatever is in the file.
func (d *Driver) change(ctx context.Context, f func(*tx)) error {
	t := &tx{d: d}
	return d.conn.transact(ctx, func(ctx context.Context) error { return t.run(ctx, f) }, func() { d.deliver(t) })
}

// run runs f, and forgets an attempt that was rolled back.
func (t *tx) run(ctx context.Context, f func(*tx)) error {
	*t = tx{d: t.d, ctx: ctx, now: now(), alive: make(map[string]bool)}
	if f(t); t.lasts && t.d.conn.synchronous != full {
		t.fail(errLasts)
	}
	return t.err
}

// fail notes an error, if there is one.
func (t *tx) fail(err error) {
	if t.err == nil {
		t.err = err
	}
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

// prepared returns a statement, which is prepared when it is first used; nil after an error.
func (t *tx) prepared(s statement) *sql.Stmt {
	if t.err != nil {
		return nil
	}
	stmt := t.d.conn.statements[s]
	if stmt == nil {
		if stmt, t.err = t.d.conn.PrepareContext(t.ctx, text(s)); t.err == nil {
			t.d.conn.statements[s] = stmt
		}
	}
	return stmt
}

func (t *tx) exec(s statement, args ...any) {
	if stmt := t.prepared(s); stmt != nil {
		_, err := stmt.ExecContext(t.ctx, args...)
		t.fail(err)
	}
}

// script is exec for a script of several statements, without arguments. They are not prepared: most SQL drivers
// prepare only the first, or refuse to.
func (t *tx) script(s statement) {
	if t.err == nil {
		_, err := t.d.conn.ExecContext(t.ctx, text(s))
		t.fail(err)
	}
}

// get reads one row into dest; found is false when there is none.
func (t *tx) get(s statement, args []any, dest ...any) (found bool) {
	t.each(s, args, func(scan func(...any)) bool {
		scan(dest...)
		found = t.err == nil
		return false
	})
	return found
}

// each calls f with each row until f returns false.
func (t *tx) each(s statement, args []any, f func(scan func(...any)) bool) {
	stmt := t.prepared(s)
	if stmt == nil {
		return
	}
	rows, err := stmt.QueryContext(t.ctx, args...)
	if err != nil {
		t.fail(err)
		return
	}
	defer rows.Close()
	scan := func(dest ...any) { t.fail(rows.Scan(dest...)) }
	for rows.Next() {
		if !f(scan) || t.err != nil {
			return
		}
	}
	t.fail(rows.Err())
}
