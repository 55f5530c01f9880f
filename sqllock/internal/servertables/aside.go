package servertables

import (
	"context"
	"errors"
)

// aside lets f use a connection on which no request waits. Where there is none to spare it is one of the requests.
func aside[T any](ctx context.Context, d *Driver, f func(context.Context, *conn) (T, error)) (T, error) {
	use := func(ctx context.Context, l *lane) (T, error) { return f(ctx, l.conn) }
	v, err := run(ctx, d.side, spot{}, use)
	if errors.Is(err, errNoRoom) {
		return run(ctx, d.requests, spot{}, use)
	}
	return v, err
}
