package servertables

import (
	"context"
	"errors"
)

// runBulk lets f, which may take long, use a connection of the bulk pool, so that no request waits for it. If there is
// no connection to spare for that pool, f uses one of the requests'.
func runBulk[T any](ctx context.Context, d *Driver, f func(context.Context, *conn) (T, error)) (T, error) {
	use := func(ctx context.Context, l *lane) (T, error) { return f(ctx, l.conn) }
	v, err := run(ctx, d.bulk, affinity{}, use)
	if errors.Is(err, errNoSpare) {
		return run(ctx, d.requests, affinity{}, use)
	}
	return v, err
}
