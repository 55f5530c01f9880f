package servertables

import (
	"context"
	"errors"
)

// runBulk lets f, which may take long, use a connection of the bulk pool, so that no request waits for it. If there is
// no connection to spare for that pool, f uses one of the requests'. It gets from as a copy, because f may go on when
// runBulk has returned and the caller has gone on, too.
func runBulk[F, T any](
	ctx context.Context, d *Driver, from F, f func(context.Context, *conn, F) (T, error),
) (T, error) {
	use := func(ctx context.Context, l *lane) (T, error) { return f(ctx, l.conn, from) }
	v, err := run(ctx, d.bulk, affinity{}, use)
	if errors.Is(err, errNoSpare) {
		return run(ctx, d.requests, affinity{}, use)
	}
	return v, err
}
