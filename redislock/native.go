package redislock

import (
	"context"
	"crypto/rand"

	"github.com/holdfast-go/holdfast/driver"
)

// A native is the driver of the layout of Holdfast: a queue of claims for each lock, which scripts change.
type native struct {
	conn     Conn
	opts     Options
	keep     retention
	scripts  scripts
	texts    texts
	keys     *keyspace
	listener *listener
	server   *oneServer
	seats    seats // where replicas must confirm, in a cluster
	end      context.CancelFunc
}

var (
	_ driver.Driver  = (*native)(nil)
	_ driver.Sharder = (*native)(nil)
	_ driver.Lister  = (*native)(nil)
	_ driver.Checker = (*native)(nil)
)

// newNative returns a driver that has sent nothing yet. The listener gets the conn as it is: what a cluster's says of
// its abilities would not show through one that waits for moving slots, and its own subscriptions are renewed anyway.
func newNative(conn Conn, opts Options) *native {
	open, end := context.WithCancel(context.Background())
	keep := opts.retention(conn.Cluster())
	d := &native{
		conn: conn, opts: opts, keep: keep, scripts: loadScripts(opts, keep), keys: newKeyspace(opts), end: end,
	}
	d.listener = newListener(conn, opts.channelPrefix(), d.keys.of, rand.Text())
	d.listener.doubts = opts.Replicas > 0
	if conn.Cluster() {
		d.conn = steady{conn}
	}
	d.server = &oneServer{conn: d.conn, prefix: opts.Prefix, open: open}
	return d
}

// Traits returns facts about the driver.
func (d *native) Traits() driver.Traits {
	t := driver.Traits{
		Backend: "redis", MinTTL: minTTL, MaxTTL: maxTTL, MaxName: maxName,
		Fenced: true, FIFO: true, ServerClock: true, Weighted: true, Listed: true, Detach: true,
		Ops: ops, Store: d.opts.identity(), Alone: 8, Full: mostInBatch,
	}
	if !d.conn.Cluster() {
		t.Ops |= driver.KindsOf(driver.OpLife)
	}
	if d.opts.Replicas > 0 {
		t.MaxInFlight = 1 // while a connection waits for replicas it serves nobody else
	}
	return t
}

// Close ends the subscriptions before it closes the connection: one that breaks would be renewed otherwise.
func (d *native) Close() error {
	d.end()
	return closeAll(d.listener, d.conn)
}

// begin checks a claim and finds its keys.
func (d *native) begin(ctx context.Context, c driver.Claim) (keys, error) {
	if err := ctx.Err(); err != nil {
		return keys{}, unsent(err)
	}
	if err := driver.Validate(c, d.Traits()); err != nil {
		return keys{}, err
	}
	return d.keys.of(c.Name)
}
