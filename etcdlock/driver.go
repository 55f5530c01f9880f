package etcdlock

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/leased"
)

// A Driver keeps queues of claims in etcd. Besides [driver.Driver] it is a [driver.Lister] and a [driver.Checker]. All
// methods are safe for concurrent use.
type Driver struct {
	followers driver.Followers

	client        *clientv3.Client
	members       *members
	owned         bool // Close closes the client
	keys          keyspace
	format        int
	lifetime      context.Context // ends with Close
	end           context.CancelFunc
	running       leased.Group
	traits        func() driver.Traits
	learnt        atomic.Bool // traits answers at once
	subscriptions *subscriptions
	tokens        *authenticator // nil unless the driver asks for tokens itself
	stream        atomic.Int64   // tells streams of watches apart: an old one may have a token that has ended

	claims   leased.Claims[*claim]
	released leased.Released

	mu      sync.Mutex
	slots   map[int64]*slot  // leases of claims by their time in seconds
	shelves map[int64]*shelf // leases of notes
}

var (
	_ driver.Driver  = (*Driver)(nil)
	_ driver.Lister  = (*Driver)(nil)
	_ driver.Checker = (*Driver)(nil)
)

// New returns a driver on a client that the caller opened. The caller closes the driver first, and then the client. New
// sends nothing.
//
// The driver makes connections of its own, with the settings of the client. A client whose KV, Lease or Watcher was
// replaced, as by package namespace, is refused: give the namespace as [Options].Prefix.
func New(client *clientv3.Client, opts *Options) (*Driver, error) {
	if client == nil {
		return nil, errors.New("etcdlock: the client is nil; open one with clientv3.New")
	}
	if err := checkParts(client); err != nil {
		return nil, err
	}
	keys, err := opts.keys()
	if err != nil {
		return nil, err
	}
	members, err := newMembers(client)
	if err != nil {
		return nil, fmt.Errorf("etcd: %w", err)
	}
	d := &Driver{
		client: client, members: members, keys: keys, format: recordFormat,
		slots: make(map[int64]*slot), shelves: make(map[int64]*shelf),
	}
	d.followers.Wait, d.followers.Listen, d.followers.Changed = d.wait, d.listen, d.changed
	d.subscriptions = newSubscriptions(d)
	d.lifetime, d.end = context.WithCancel(context.Background())
	d.traits = sync.OnceValue(d.learnTraits)
	return d, nil
}

// Bounds of what a claim may ask for.
const (
	maxTTL  = 366 * 24 * time.Hour
	maxName = 1024

	// usualMinTTL is the shortest lease of a server with default settings. It is assumed when the server cannot be
	// asked.
	usualMinTTL = 2 * time.Second

	// learnTimeout bounds the question for the shortest lease.
	learnTimeout = 5 * time.Second
)

// Traits returns facts about the driver. The first call may take a moment: it asks the server for its shortest lease,
// which depends on the election timeout.
func (d *Driver) Traits() driver.Traits { return d.traits() }

func (d *Driver) learnTraits() driver.Traits {
	ctx, cancel := context.WithTimeout(d.lifetime, learnTimeout)
	defer cancel()
	defer d.learnt.Store(true)
	minTTL, err := d.shortestLease(ctx)
	if err != nil {
		minTTL = usualMinTTL
	}
	return traits(minTTL)
}

func traits(minTTL time.Duration) driver.Traits {
	return driver.Traits{
		Backend: "etcd", MinTTL: minTTL, MaxTTL: maxTTL, MaxName: maxName,
		Fenced: true, FIFO: true, ServerClock: true, Weighted: true, Listed: true, Detach: true,
		Ops:   leased.Kinds,
		Alone: 2, MaxInFlight: 2, // docs/speed.md has what that gains
	}
}

// shortestLease asks for a lease of a second and returns what the server grants instead.
func (d *Driver) shortestLease(ctx context.Context) (time.Duration, error) {
	granted, err := d.grantLease(ctx, 1)
	if err != nil {
		return 0, explain(err)
	}
	d.revokeLease(ctx, granted.ID) // it ends by itself
	return time.Duration(granted.TTL) * time.Second, nil
}

// Close ends all waits, and closes the connection unless it was passed to New. Claims that are left end with their
// TTL.
func (d *Driver) Close() error {
	d.followers.Close()
	d.end()
	d.running.Wait()
	d.claims.Stop()
	d.members.close()
	if d.owned {
		return d.client.Close()
	}
	return nil
}

// validate checks a claim before anything is sent about it.
func (d *Driver) validate(ctx context.Context, c driver.Claim) error {
	known, err := d.traitsWithin(ctx)
	if err != nil {
		return err
	}
	return driver.Validate(c, known)
}

// traitsWithin is Traits for a caller who waits no longer than that.
func (d *Driver) traitsWithin(ctx context.Context) (driver.Traits, error) {
	if d.learnt.Load() {
		return d.traits(), nil
	}
	answer := make(chan driver.Traits, 1)
	d.running.Go(func() { answer <- d.traits() })
	select {
	case known := <-answer:
		return known, nil
	case <-ctx.Done():
		return driver.Traits{}, ctx.Err()
	case <-d.lifetime.Done():
		return driver.Traits{}, driver.ErrClosed
	}
}

func (d *Driver) open(ctx context.Context) error {
	if d.lifetime.Err() != nil {
		return driver.ErrClosed
	}
	return ctx.Err()
}
