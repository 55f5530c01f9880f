package redislock

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// channels are where a client listens to what scripts tell it about its claims.
type channels interface {
	// ready returns when the client listens to what is told about a lock.
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

// sharded begins the addresses of those who listen in the slot of each lock. Scripts tell them with SPUBLISH, which
// reaches the nodes of that slot and no others.
const sharded = "~"

// A clientChannel is one channel for all locks, on one connection, from the first time that somebody would wait.
type clientChannel struct {
	id   string
	feed feed

	current atomic.Pointer[subscription]
	mu      sync.Mutex // held while it is opened or closed
	closed  atomic.Bool
}

func (c *clientChannel) ready(ctx context.Context, _ string) error {
	if c.closed.Load() {
		return driver.ErrClosed
	}
	s := c.current.Load()
	if s == nil {
		s = c.begin()
	}
	if s == nil {
		return driver.ErrClosed
	}
	return s.ready(ctx)
}

// begin begins to listen, unless somebody else has. It returns nil when it was closed before anybody did.
func (c *clientChannel) begin() *subscription {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.current.Load() == nil && !c.closed.Load() {
		c.current.Store(subscribe(c.feed))
	}
	return c.current.Load()
}

// address names the channel once the server has confirmed it: what is told before that is lost, and a claim that names
// it already counts as one of which all is heard.
func (c *clientChannel) address(string) string {
	if s := c.current.Load(); s == nil || !s.isReady() {
		return nowhere
	}
	return c.id
}

func (c *clientChannel) eager() bool { return true }

func (c *clientChannel) close() {
	c.mu.Lock()
	c.closed.Store(true) // under mu, so that begin subscribes before it, and is closed here, or not at all
	c.mu.Unlock()
	if s := c.current.Load(); s != nil {
		s.close()
	}
}

// lockChannels are a channel for each lock that somebody waits for. Each is kept for as long as claims live that may
// be told something there, and for a while after.
type lockChannels struct {
	own    string                 // the address
	feedOf func(lock string) feed // what is listened to
	needed func(lock string) bool // are there claims that may be told something?

	mu     sync.Mutex
	open   map[string]*lockChannel
	closed bool
}

type lockChannel struct {
	*subscription
	last time.Time // when somebody needed it
}

// idle is how long nobody needs a channel before it is closed. It is longer than one call of Watch.
const idle = 3 * watchFor

func newLockChannels(address string, feedOf func(lock string) feed, needed func(lock string) bool) *lockChannels {
	return &lockChannels{own: address, feedOf: feedOf, needed: needed, open: make(map[string]*lockChannel)}
}

func (c *lockChannels) ready(ctx context.Context, lock string) error {
	l := c.use(lock)
	if l == nil {
		return driver.ErrClosed
	}
	return l.ready(ctx)
}

// use returns the channel of a lock, which it opens if there is none, or nil after close.
func (c *lockChannels) use(lock string) *lockChannel {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil
	}
	l := c.open[lock]
	if l == nil {
		l = &lockChannel{subscription: subscribe(c.feedOf(lock))}
		c.open[lock] = l
		c.tidyLater(lock, l)
	}
	l.last = time.Now()
	return l
}

func (c *lockChannels) tidyLater(lock string, l *lockChannel) {
	time.AfterFunc(idle, func() { c.tidy(lock, l) })
}

// tidy closes a channel that nobody needs, or looks again later.
func (c *lockChannels) tidy(lock string, l *lockChannel) {
	if c.abandon(lock, l) {
		l.close()
	}
}

// abandon takes out a channel that nobody needs, and reports whether it did. Whether claims wait is asked first: the
// inbox has a mutex of its own, and neither is ever held under the other.
func (c *lockChannels) abandon(lock string, l *lockChannel) bool {
	needed := c.needed(lock)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed:
		return false
	case needed || time.Since(l.last) < idle:
		c.tidyLater(lock, l)
		return false
	}
	delete(c.open, lock)
	return true
}

// address names the channel of a lock once the server has confirmed it.
func (c *lockChannels) address(lock string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := c.open[lock]
	if l == nil || !l.isReady() {
		return nowhere
	}
	l.last = time.Now()
	return c.own
}

// count is how many channels are open.
func (c *lockChannels) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.open)
}

// eager is false: a claim is often granted at once, and needs no channel then.
func (c *lockChannels) eager() bool { return false }

// close stops all subscriptions before it waits for the first: each may take a moment.
func (c *lockChannels) close() {
	c.mu.Lock()
	c.closed = true
	open := c.open
	c.open = nil
	c.mu.Unlock()
	for _, l := range open {
		l.stop()
	}
	for _, l := range open {
		l.close()
	}
}
