package redislock

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// A hearing is where a client hears what scripts tell it about its claims.
type hearing interface {
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

// An oneChannel is one channel for all locks, on one connection, from the first time that somebody would wait.
type oneChannel struct {
	id   string
	open func() *ear

	ear    atomic.Pointer[ear]
	mu     sync.Mutex // held while it is opened or closed
	closed atomic.Bool
}

func (o *oneChannel) ready(ctx context.Context, lock string) error {
	if o.closed.Load() {
		return errClosed
	}
	e := o.ear.Load()
	if e == nil {
		e = o.begin()
	}
	if e == nil {
		return errClosed
	}
	return e.ready(ctx)
}

// begin begins to listen, unless somebody else has. It returns nil when it was closed before anybody did.
func (o *oneChannel) begin() *ear {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ear.Load() == nil && !o.closed.Load() {
		o.ear.Store(o.open())
	}
	return o.ear.Load()
}

func (o *oneChannel) address(lock string) string {
	if o.ear.Load() == nil {
		return nowhere
	}
	return o.id
}

func (o *oneChannel) eager() bool { return true }

func (o *oneChannel) close() {
	o.mu.Lock()
	o.closed.Store(true)
	o.mu.Unlock()
	if e := o.ear.Load(); e != nil {
		e.close()
	}
}

// sharded begins the addresses of those who listen in the slot of each lock. Scripts tell them with SPUBLISH, which
// reaches the nodes of that slot and no others.
const sharded = "~"

// A channelPerLock is a channel in the slot of each lock that somebody waits for. It is kept for as long as claims live
// that may be told something there, and for a while after.
type channelPerLock struct {
	id   string
	open func(lock string) *ear
	used func(lock string) bool // are there claims that may be told something?

	mu     sync.Mutex
	ears   map[string]*lockEar
	closed bool
}

type lockEar struct {
	*ear
	last time.Time // when somebody needed it
}

// idle is how long nobody needs an ear before it is closed. It is longer than one call of Watch.
const idle = 3 * watchFor

func (c *channelPerLock) ready(ctx context.Context, lock string) error {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return errClosed
	}
	e := c.ears[lock]
	if e == nil {
		e = &lockEar{ear: c.open(lock)}
		c.ears[lock] = e
		time.AfterFunc(idle, func() { c.tidy(lock, e) })
	}
	e.last = time.Now()
	c.mu.Unlock()
	return e.ready(ctx)
}

// tidy closes an ear that nobody needs, or looks again later.
func (c *channelPerLock) tidy(lock string, e *lockEar) {
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
	delete(c.ears, lock)
	c.mu.Unlock()
	e.close()
}

func (c *channelPerLock) address(lock string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.ears[lock]
	if e == nil || !e.hears() {
		return nowhere
	}
	e.last = time.Now()
	return sharded + c.id
}

// many reports whether there are so many ears that connections become scarce.
func (c *channelPerLock) many() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.ears) >= mostHeard
}

func (c *channelPerLock) eager() bool { return false }

func (c *channelPerLock) close() {
	c.mu.Lock()
	c.closed = true
	ears := c.ears
	c.ears = nil
	c.mu.Unlock()
	for _, e := range ears {
		e.stop()
	}
	for _, e := range ears {
		e.close()
	}
}
