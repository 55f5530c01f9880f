package sqlite

import (
	"context"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// watchPause is how often Watch looks: those who have no claim are not rung for.
const watchPause = 50 * time.Millisecond

// A digest changes with a queue, though not when claims are renewed.
type digest struct{ length, last, marks int64 }

// Watch implements [driver.Watcher]. It also notices claims that expire, and holders that die.
func (d *Driver) Watch(ctx context.Context, name string) error {
	first, changed, err := d.look(ctx, name)
	for now := first; err == nil && !changed && now == first; {
		if err = driver.Sleep(ctx, watchPause); err == nil {
			now, changed, err = d.look(ctx, name)
		}
	}
	return err
}

// look reads the digest of a queue, unless one of its holders is dead: then it changes the queue.
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
