package servertables

import (
	"context"
	"time"

	"github.com/holdfast-go/holdfast/sqllock/internal/server"
)

// watchPause is how often changed looks: it has to look, because only the owners of claims are woken.
const watchPause = 100 * time.Millisecond

// changed blocks until a queue has changed. It also notices claims that expire.
func (d *Driver) changed(ctx context.Context, name string, begun func()) error {
	return server.UntilChanged(ctx, watchPause, begun, func() ([3]int64, error) { return d.digest(ctx, name) })
}

// digest reads what changes with a queue, though not when claims are renewed.
func (d *Driver) digest(ctx context.Context, name string) ([3]int64, error) {
	read := func(scan func(...any) error) (g [3]int64, err error) {
		err = scan(&g[0], &g[1], &g[2])
		return g, err
	}
	return run(ctx, d.requests, affinity{}, func(ctx context.Context, l *lane) ([3]int64, error) {
		return one(ctx, l.conn, "digest", read, []byte(name))
	})
}
