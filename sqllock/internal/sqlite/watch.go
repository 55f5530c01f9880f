package sqlite

import (
	"context"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// watchPause is how often changed looks at a queue. It has to look, because only the owners of claims are woken.
const watchPause = 50 * time.Millisecond

// A digest changes when a queue does, but not when claims are renewed.
type digest struct{ length, last, marks int64 }

// changed blocks until a queue may have changed, as [driver.Followers] says. It also notices claims that expire, and
// holders that die.
func (d *Driver) changed(ctx context.Context, name string) error {
	first, changed, err := d.look(ctx, name)
	for now := first; err == nil && !changed && now == first; {
		if err = driver.Sleep(ctx, watchPause); err == nil {
			now, changed, err = d.look(ctx, name)
		}
	}
	return err
}

// look reads the digest of a queue. If one of its holders is dead, it settles the queue, which changes by that.
func (d *Driver) look(ctx context.Context, name string) (g digest, changed bool, err error) {
	dead := false
	err = d.read(ctx, func(t *tx) error {
		err := t.rows(queueOf, []any{[]byte(name)}, func(r row) bool {
			dead = dead || r.granted && !t.isAlive(r)
			return r.granted && !dead
		})
		if err == nil {
			_, err = t.get(digestOf, []any{[]byte(name), int64(t.now)}, &g.length, &g.last, &g.marks)
		}
		return err
	})
	if err == nil && dead {
		err = d.write(ctx, func(t *tx) error {
			_, err := t.settle(name, whole)
			return err
		})
	}
	return g, dead, err
}
