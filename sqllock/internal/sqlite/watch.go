package sqlite

import (
	"context"
	"time"

	"github.com/holdfast-go/holdfast/sqllock/internal/server"
)

// watchPause is how often changed looks at a queue. It has to look, because only the owners of claims are woken.
const watchPause = 50 * time.Millisecond

// changed blocks until a queue may have changed, as [driver.Followers] says. It also notices claims that expire, and
// holders that die.
func (d *Driver) changed(ctx context.Context, name string, begun func()) error {
	return server.UntilChanged(ctx, watchPause, begun, func() ([3]int64, error) { return d.digest(ctx, name) })
}

// digest reads what changes when a queue does, but not when claims are renewed. Then it takes the dead out, which the
// next digest tells.
func (d *Driver) digest(ctx context.Context, name string) (g [3]int64, err error) {
	err = d.transact(ctx, func(t *tx) {
		t.get("digest", []any{[]byte(name), int64(t.now)}, &g[0], &g[1], &g[2])
		t.settle(name, whole)
	})
	return g, err
}
