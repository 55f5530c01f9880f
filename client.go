package holdfast

import (
	"cmp"
	"context"
	"sync/atomic"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/batch"
)

// A Client makes locks on one backend, and keeps alive those that are held or waited for.
type Client struct {
	driver   driver.Driver
	sender   *batch.Sender // all operations on claims go through it
	inbox    *inbox        // what the driver tells comes through it
	unhear   func()        // ends that
	owned    bool          // opened by Open, so closed by Close
	label    string        // the backend for people, without its password
	store    string        // names the store to other clients, in whatever process; "" when nobody knows
	traits   driver.Traits
	settings settings
	keeper   *keeper
	undoer   *undoer
	gates    gates
	ids      ids
	stamps   stamps
	events   events
	waiting  atomic.Int64 // calls that wait for a lock

	closing    context.Context // ends, with ErrClosed as cause, when Close begins
	close      context.CancelCauseFunc
	lifetime   context.Context // ends when Close does, and what goes on in the background with it
	end        context.CancelFunc
	background background
}

// Open connects to the backend that the URL names. Import the package of its driver, which registers the scheme:
//
//	mem:NAME                                memlock    one store for each NAME in this process
//	file:PATH                               sqllock    SQLite; import a database/sql driver named "sqlite" too
//	mysql://user:password@host/database     sqllock    MySQL and MariaDB; import the driver named "mysql" too
//	postgres://user:password@host/database  sqllock    PostgreSQL; import the driver named "pgx" too
//	redis://user:password@host:port/db      redislock  rediss:// with TLS
//	redis+unix:///path/of/socket            redislock
//	redis-sentinel://host1,host2/master     redislock  the master that sentinels name
//	redis-cluster://host1,host2             redislock
//	redlock://host1,host2,host3             quorum     a majority of Redis servers; import redislock too
//	etcd://host1,host2,host3/prefix         etcdlock
//	zk://host1,host2,host3/chroot           zklock
//
// The parameter prefix= sets the prefix of all keys where the engine has keys. Unknown parameters are errors. No error
// shows the password. The logger is told what explains how the backend will behave: see [driver.Checker].
func Open(ctx context.Context, rawURL string, opts ...Option) (*Client, error) {
	d, err := driver.Open(ctx, rawURL)
	if err != nil {
		return nil, err
	}
	c := New(d, opts...)
	c.owned = true
	if u, err := driver.ParseURL(rawURL); err == nil {
		c.label = driver.Redact(u)
		c.store = cmp.Or(c.store, storeOf(u))
	}
	notable, _ := driver.Check(ctx, d, true) // an error is no reason not to go on
	for _, f := range notable {
		c.warn(c.settings.logger, "holdfast: "+f.Fact, "backend", c.label, "advice", f.Advice)
	}
	return c, nil
}

// New makes a client on a driver. Closing the client does not close the driver.
func New(d driver.Driver, opts ...Option) *Client {
	t := d.Traits()
	c := &Client{driver: d, label: t.Backend, store: t.Store, traits: t, settings: defaults().with(opts)}
	c.closing, c.close = context.WithCancelCause(context.Background())
	c.lifetime, c.end = context.WithCancel(context.Background())
	c.sender, c.inbox = batch.New(d, &batch.Options{Now: clock, Stray: c.strayed}), newInbox()
	c.keeper, c.undoer = newKeeper(c), newUndoer(c)
	c.unhear = d.Subscribe(c.inbox.tell)
	return c
}

// closed returns ErrClosed once Close began.
func (c *Client) closed() error { return context.Cause(c.closing) }
