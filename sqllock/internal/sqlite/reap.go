package sqlite

import (
	"context"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// Reap implements [driver.Reaper]: it does at once and completely what sweeps do bit by bit. It holds others up for a
// bounded number of rows at a time.
func (d *Driver) Reap(ctx context.Context, age time.Duration) (removed []driver.Leftover, err error) {
	r := reaping{d: d, age: age}
	for clients := range slices.Chunk(d.client.others(), sweepPeers) {
		for r.more = true; r.more; {
			if err := r.write(ctx, func(t *tx) error { return r.clients(t, clients) }); err != nil {
				return r.removed, err
			}
		}
	}
	for r.more = true; r.more; {
		if err := r.write(ctx, r.rows); err != nil {
			return r.removed, err
		}
	}
	return r.removed, nil
}

// A reaping is what a Reap has done so far.
type reaping struct {
	d       *Driver
	age     time.Duration
	removed []driver.Leftover
	last    fence // the last one that was looked at
	more    bool  // something may be left
}

// write runs a step in a transaction. When that has to be begun again, the step forgets what it noted.
func (r *reaping) write(ctx context.Context, step func(*tx) error) error {
	before := *r
	return r.d.transact(ctx, func(t *tx) error {
		*r = before
		return step(t)
	})
}

func (r *reaping) note(kind, name string) {
	r.removed = append(r.removed, driver.Leftover{Kind: kind, Name: name})
}

// clients removes what is left of clients that died.
func (r *reaping) clients(t *tx, clients []string) (err error) {
	r.more, err = t.sweepClients(clients)
	for range t.departed {
		r.note("file of a client that is gone", "")
	}
	return err
}

// rows removes some rows.
func (r *reaping) rows(t *tx) error {
	begin := len(r.removed)
	old := []any{int64(t.now - r.age), sweepMost}
	if err := t.rows(expired, old, func(c row) bool { r.note("expired claim", c.Name); return true }); err != nil {
		return err
	}
	if _, err := t.sweepClaims(expired, old...); err != nil {
		return err
	}
	if err := t.exec(sweepEnds, int64(t.now), sweepMost); err != nil {
		return err
	}
	if err := t.exec(sweepValues, sweepMost); err != nil {
		return err
	}
	fences, err := t.sweepFences(&r.last, time.Now().Add(-r.age).UnixMicro())
	for _, name := range fences {
		r.note("last token", name)
	}
	r.more = len(r.removed)-begin >= sweepMost || r.last.token != 0
	return err
}
