package sqllock

import (
	"context"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// Reap implements [driver.Reaper]: it does at once, and for all, what sweeping does in passing and by and by. It holds
// others up for a bounded number of rows at a time.
func (d *Driver) Reap(ctx context.Context, age time.Duration) (removed []driver.Leftover, err error) {
	for {
		batch, err := d.reapSome(ctx, age)
		removed = append(removed, batch...)
		if err != nil || len(batch) < sweepMost {
			return removed, err
		}
	}
}

// reapSome removes leftovers in one transaction; fewer than sweepMost are all.
func (d *Driver) reapSome(ctx context.Context, age time.Duration) (removed []driver.Leftover, err error) {
	err = d.write(ctx, func(t *tx) error {
		removed = nil
		note := func(kind, name string) { removed = append(removed, driver.Leftover{Kind: kind, Name: name}) }
		old := []any{int64(t.now - age), sweepMost}
		if err := t.rows(expired, old, func(r row) bool { note("expired claim", r.Name); return true }); err != nil {
			return err
		}
		if err := t.sweepClaims(expired, old...); err != nil {
			return err
		}
		if err := t.sweepClients(); err != nil {
			return err
		}
		for range t.buried {
			note("file of a client that is gone", "")
		}
		if err := t.exec(sweepEnds, int64(t.now), sweepMost); err != nil {
			return err
		}
		return t.each(sweepFences, []any{time.Now().Add(-age).UnixMicro(), sweepMost}, func(scan func(...any) error) (bool, error) {
			var name []byte
			err := scan(&name)
			note("last token", string(name))
			return true, err
		})
	})
	return removed, err
}
