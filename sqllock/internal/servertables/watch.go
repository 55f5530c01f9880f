package servertables

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// watchPace is how often a client looks at the queues that it watches. It has to, because only the owners of claims are
// woken.
var watchPace = driver.Backoff{First: 10 * time.Millisecond, Most: 100 * time.Millisecond}

// digests reads what changes with each of these queues, though not when claims are renewed. It also shows claims that
// expire.
func (d *Driver) digests(ctx context.Context, names []string) ([]driver.Digest, error) {
	written := make([]string, len(names))
	for i, name := range names {
		written[i] = hex.EncodeToString([]byte(name))
	}
	text, _ := json.Marshal(written) // of strings
	read := func(scan func(...any) error) (g driver.Digest, err error) {
		err = scan(&g[0], &g[1], &g[2])
		return g, err
	}
	return run(ctx, d.requests, affinity{}, func(ctx context.Context, l *lane) ([]driver.Digest, error) {
		return all(ctx, l.conn, "digest", read, string(text))
	})
}
