package servertables

import (
	"context"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// watchPause is how often changed looks: it has to look, because only the owners of claims are woken.
const watchPause = 100 * time.Millisecond

// A digest changes with a queue, though not when claims are renewed.
type digest struct{ length, last, marks int64 }

// changed blocks until a queue has changed. It also notices claims that expire.
func (d *Driver) changed(ctx context.Context, name string, begun func()) error {
	first, err := d.digest(ctx, name)
	if err == nil {
		begun()
	}
	for now := first; err == nil && now == first; {
		if err = driver.Sleep(ctx, watchPause); err == nil {
			now, err = d.digest(ctx, name)
		}
	}
	return err
}

func (d *Driver) digest(ctx context.Context, name string) (digest, error) {
	return run(ctx, d.requests, affinity{}, func(ctx context.Context, l *lane) (g digest, err error) {
		err = l.conn.rows(ctx, "digest", []any{[]byte(name)}, func(scan func(...any) error) error {
			return scan(&g.length, &g.last, &g.marks)
		})
		return g, err
	})
}
