package sqlite

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// watchPace is how often a client looks at the queues that it watches. It has to look, because others tell it only of
// the first claim that waits behind its own.
var watchPace = driver.Backoff{First: 50 * time.Millisecond, Most: 50 * time.Millisecond}

// changed blocks until a queue may have changed, as [driver.Followers] says. It also notices claims that expire, and
// holders that die.
func (d *Driver) changed(ctx context.Context, name string, begun func()) error {
	defer d.notifier.listen(queueOf(name), func() { d.lookout.Told(name) })()
	return d.lookout.Changed(ctx, name, begun)
}

// queueOf is what a client is woken with when a claim begins to wait behind its own. It is no claim's ID, and so short
// that it is written to a FIFO in one piece, however long the name is.
func queueOf(name string) string { return fmt.Sprintf("queue %x", sha256.Sum256([]byte(name))) }

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
