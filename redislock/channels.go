package redislock

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// A channels is where a client hears what scripts tell it about its claims.
type channels interface {
	// ready returns when the client hears what is told about a lock.
	ready(ctx context.Context, lock string) error
	// address is how records name where to tell the client about a lock: "-" as long as it does not listen there.
	address(lock string) string
	// eager says that one listens before one sends the first request. Otherwise that would cost a round trip for each
	// lock, and one listens when there is something to wait for.
	eager() bool
	close()
}

// nowhere is the address of who does not listen.
const nowhere = "-"

// An clientChannel is one channel for all locks, on one connection, from the first time that somebody would wait.
type clientChannel struct {
	id   string
	open func() *subscription

	subscription atomic.Pointer[subscription]
	mu           sync.Mutex // held while it is opened or closed
	closed       atomic.Bool
}

func (o *clientChannel) ready(ctx context.Context, lock string) error {
	if o.closed.Load() {
		return driver.ErrClosed
	}
	e := o.subscription.Load()
	if e == nil {
		e = o.begin()
	}
	if e == nil {
		return driver.ErrClosed
	}
	return e.ready(ctx)
}

// begin begins to listen, unless somebody else has. It returns nil when it was closed before anybody did.
func (o *clientChannel) begin() *subscription {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.subscription.Load() == nil && !o.closed.Load() {
		o.subscription.Store(o.open())
	}
	return o.subscription.Load()
}

func (o *clientChannel) address(lock string) string {
	if o.subscription.Load() == nil {
		return nowhere
	}
	return o.id
}

func (o *clientChannel) eager() bool { return true }

func (o *clientChannel) close() {
	o.mu.Lock()
	o.closed.Store(true)
	o.mu.Unlock()
	if e := o.subscription.Load(); e != nil {
		e.close()
	}
}

// sharded begins the addresses of those who listen in the slot of each lock. Scripts tell them with SPUBLISH, which
// reaches the nodes of that slot and no others.
const sharded = "~"

// A lockChannels is a channel in the slot of each lock that somebody waits for. It is kept for as long as claims live
// that may be told something there, and for a while after.
type lockChannels struct {
	id   string
	open func(lock string) *subscription
	used func(lock string) bool // are there claims that may be told something?

	mu            sync.Mutex
	subscriptions map[string]*lockSubscription
	closed        bool
}

type lockSubscription struct {
	*subscription
	last time.Time // when somebody needed it
}

// idle is how long nobody needs an subscription before it is closed. It is longer than one call of Watch.
const idle = 3 * watchFor

func (c *lockChannels) ready(ctx context.Context, lock string) error {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return driver.ErrClosed
	}
	e := c.subscriptions[lock]
	if e == nil {
		e = &lockSubscription{subscription: c.open(lock)}
		c.subscriptions[lock] = e
		time.AfterFunc(idle, func() { c.tidy(lock, e) })
	}
	e.last = time.Now()
	c.mu.Unlock()
	return e.ready(ctx)
}

// tidy closes an subscription that nobody needs, or looks again later.
func (c *lockChannels) tidy(lock string, e *lockSubscription) {
	needed := c.used(lock)
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return
	}
	if needed || time.Since(e.last) < idle {
		c.mu.Unlock()
		time.AfterFunc(idle, func() { c.tidy(lock, e) })
		return
	}
	delete(c.subscriptions, lock)
	c.mu.Unlock()
	e.close()
}

func (c *lockChannels) address(lock string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.subscriptions[lock]
	if e == nil || !e.hears() {
		return nowhere
	}
	e.last = time.Now()
	return sharded + c.id
}

// many reports whether there are so many subscriptions that connections become scarce.
func (c *lockChannels) many() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.subscriptions) >= mostHeard
}

func (c *lockChannels) eager() bool { return false }

func (c *lockChannels) close() {
	c.mu.Lock()
	c.closed = true
	subscriptions := c.subscriptions
	c.subscriptions = nil
	c.mu.Unlock()
	for _, e := range subscriptions {
		e.stop()
	}
	for _, e := range subscriptions {
		e.close()
	}
}
