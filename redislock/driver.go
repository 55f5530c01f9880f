package redislock

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/redis/rueidis"

	"github.com/holdfast-go/holdfast/driver"
)

// A Driver keeps queues of claims on a Redis server. Besides [driver.Driver] it is a [driver.Waiter], [driver.Renewer],
// [driver.Watcher], [driver.Lister], [driver.Breaker], [driver.Revoker], [driver.Proposer], [driver.Voter],
// [driver.Living] and [driver.Checker]. All methods are safe for concurrent use.
type Driver struct {
	conn     Conn
	opts     Options
	scripts  scripts
	known    knownKeys
	notifier *notifier
	combiner *combiner
	requests *lane // where replicas must confirm
	renewals *lane
	end      context.CancelFunc
}

var (
	_ driver.Driver   = (*Driver)(nil)
	_ driver.Waiter   = (*Driver)(nil)
	_ driver.Renewer  = (*Driver)(nil)
	_ driver.Watcher  = (*Driver)(nil)
	_ driver.Lister   = (*Driver)(nil)
	_ driver.Breaker  = (*Driver)(nil)
	_ driver.Revoker  = (*Driver)(nil)
	_ driver.Proposer = (*Driver)(nil)
	_ driver.Voter    = (*Driver)(nil)
	_ driver.Living   = (*Driver)(nil)
	_ driver.Checker  = (*Driver)(nil)

	_ driver.Identifier = (*Driver)(nil)
)

var (
	errNoClient = errors.New("redislock: the client is nil; open one with rueidis.NewClient")
	errFollows  = errors.New("redislock: the client goes by one sentinel, and believes a master that was replaced until it hears of that, which may grant a lock twice; open a URL like " + likeSentinel + ", which asks all sentinels, and keep this client for other things")
)

// New returns a driver on a client that the caller opened, and closes, after the driver. Nothing is sent yet. A client that
// follows sentinels is refused: it believes a master that was replaced until it hears of that. Open a redis-sentinel: URL instead.
func New(client rueidis.Client, opts *Options) (*Driver, error) {
	if err := checkClient(client); err != nil {
		return nil, err
	}
	conn := rueidisConn{client: client}
	if conn.Cluster() {
		return NewOn(clusterConn{conn}, opts)
	}
	return NewOn(conn, opts)
}

func checkClient(client rueidis.Client) error {
	switch {
	case client == nil:
		return errNoClient
	case client.Mode() == rueidis.ClientModeSentinel:
		return errFollows
	}
	return nil
}

// NewOn returns a driver on any client for Redis. Close closes conn.
func NewOn(conn Conn, opts *Options) (*Driver, error) {
	given, err := opts.orDefault()
	if err == nil && given.Layout != Native {
		err = errors.New("options: locks in the layout of another library are for NewGuest")
	}
	if err != nil {
		return nil, err
	}
	d := &Driver{conn: conn, opts: given, scripts: loadScripts(given)}
	if conn.Cluster() {
		d.conn = steady{conn}
	}
	d.requests, d.renewals = newLane(d.conn, given.confirming()), newLane(d.conn, given.confirming())
	open, end := context.WithCancel(context.Background())
	d.end = end
	d.combiner = &combiner{conn: d.conn, script: d.scripts.batch, server: &oneServer{conn: d.conn, prefix: given.Prefix, open: open}}
	d.notifier = newNotifier(conn, given.channels(), d.keys, rand.Text())
	return d, nil
}

// Bounds of what a claim may ask for.
const (
	minTTL  = 100 * time.Millisecond
	maxTTL  = 366 * 24 * time.Hour
	maxName = 4096
)

// Traits returns facts about the driver.
func (d *Driver) Traits() driver.Traits {
	return driver.Traits{
		Backend:     "redis",
		MinTTL:      minTTL,
		MaxTTL:      maxTTL,
		MaxName:     maxName,
		Fenced:      true,
		FIFO:        true,
		ServerClock: true,
		Weighted:    true,
		Listed:      true,
		Detach:      true,
	}
}

// Close ends all waits, and closes the connection unless it was passed to New.
func (d *Driver) Close() error {
	d.end()
	d.notifier.close()
	return d.conn.Close()
}

// begin checks a claim and finds its keys.
func (d *Driver) begin(ctx context.Context, c driver.Claim) (keys, error) {
	if err := ctx.Err(); err != nil {
		return keys{}, err
	}
	if err := driver.Validate(c, d.Traits()); err != nil {
		return keys{}, err
	}
	return d.keys(c.Name)
}
