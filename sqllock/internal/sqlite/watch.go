package sqlite

import (
	"context"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// watchPace is how often a client looks at the queues that it watches: it has to, because only the owners of claims are
// woken.
var watchPace = driver.Backoff{First: 50 * time.Millisecond, Most: 50 * time.Millisecond}

// digests reads what changes when queues do, but not when claims are renewed. Then it takes the dead out, which the
// next digests tell.
func (d *Driver) digests(ctx context.Context, names []string) (all []driver.Digest, err error) {
	err = d.transact(ctx, func(t *tx) {
		all = make([]driver.Digest, len(names))
		for i, name := range names {
			t.get("digest", []any{[]byte(name), int64(t.now)}, &all[i][0], &all[i][1], &all[i][2])
			t.settle(name, whole)
		}
	})
	return all, err
}
