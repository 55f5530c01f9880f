package holdfast

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// A lock is what all kinds have in common: a name on a backend, and how its claims are made.
type lock struct {
	client   *Client
	name     string
	settings settings
	inquiry  *inquiry // what is asked for those who wait at a gate; nil for others
}

func (c *Client) lock(name string, opts []Option) lock {
	return lock{client: c, name: name, settings: c.settings.with(opts)}
}

// An ask is what one kind of lock asks of the queue.
type ask struct {
	kind          string
	mode          mode
	weight, limit int64
}

// A mode tells what may be held at the same time.
type mode int

const (
	exclusive mode = iota
	shared
	permits
)

// claim makes a claim that was never requested.
func (l *lock) claim(a ask, queue bool) driver.Claim {
	return l.draft(a, queue, l.client.ids.next(series{l.name, l.settings.ttl}))
}

func (l *lock) draft(a ask, queue bool, id string) driver.Claim {
	return driver.Claim{
		Name: l.name, ID: id, Weight: a.weight, Limit: a.limit,
		TTL: l.settings.ttl, Queue: queue, Owner: l.settings.owner, Value: l.settings.value,
	}
}

// acquire gets a lease: from the context that holds the lock already, from the gate where goroutines of this client
// wait together, or from the backend.
func (l *lock) acquire(ctx context.Context, a ask, wait bool) (*Lease, error) {
	start := time.Now()
	acquired, err := l.lease(ctx, a, wait, start)
	return l.told(ctx, a, acquired, start, err)
}

// told tells the observer how an acquisition ended. If it panics, nobody has the lock; otherwise its owner has it now.
func (l *lock) told(ctx context.Context, a ask, acquired *Lease, start time.Time, err error) (lease *Lease, _ error) {
	if acquired != nil {
		defer func() {
			if lease == nil {
				acquired.Release(ctx)
			} else {
				lease.inVain(false)
			}
		}()
	}
	l.observe(ctx, OpAcquire, a, acquired.tokenOrZero(), start, err)
	return acquired, err
}

func (l *lock) lease(ctx context.Context, a ask, wait bool, start time.Time) (*Lease, error) {
	l.client.background.enter()
	defer l.client.background.leave()
	if err := l.check(ctx, a); err != nil {
		return nil, err
	}
	if outer := heldThrough(ctx, l, a); outer != nil {
		if lease, err := l.again(ctx, outer, a); lease != nil || err != nil {
			return lease, err
		}
	}
	g, err := l.grant(ctx, a, wait)
	if err != nil {
		return nil, err
	}
	return l.client.hand(ctx, g, start)
}

// hand returns the lease of a grant that is new, to a call that began at start. Close, which waits for the caller,
// may have begun before the grant was there to be seen: then it is given back, as it is when the observer panics.
func (c *Client) hand(ctx context.Context, g *grant, start time.Time) (lease *Lease, err error) {
	defer func() {
		if lease != nil {
			return
		}
		if _, ended := g.end(ErrReleased); ended {
			g.hold.unwanted()
		}
	}()
	if err := c.closed(); err != nil {
		return nil, g.lock.failure("lock", err)
	}
	inside, leave := g.lock.enter(ctx, g, start)
	return g.lease(inside, leave), nil
}

// check reports what is wrong before anything is sent.
func (l *lock) check(ctx context.Context, a ask) error {
	if err := l.client.closed(); err != nil {
		return l.failure("lock", err)
	}
	if err := l.settings.check(); err != nil {
		return l.failure("lock", err)
	}
	if err := cmp.Or(a.check(), l.canReuse()); err != nil {
		return l.failure("lock", err)
	}
	if err := driver.Validate(l.draft(a, false, "draft"), l.client.traits); err != nil {
		return l.failure("lock", err)
	}
	if ctx.Err() != nil {
		return l.notAcquired(ctx)
	}
	return nil
}

// grant gets the lock from the gate, or with a claim of its own where a gate would be wrong: what is shared needs no
// hand-off, what stays taken after its release must not be handed on, and without hand-offs the order is strict.
func (l *lock) grant(ctx context.Context, a ask, wait bool) (*grant, error) {
	if a.mode == exclusive && l.settings.handoff > 0 && l.settings.minHold == 0 {
		return l.passGate(ctx, a, wait)
	}
	h, err := l.obtain(ctx, a, wait)
	if err != nil {
		return nil, err
	}
	return h.grant(l, 0), nil
}

// do calls fn under the lock.
func (l *lock) do(ctx context.Context, a ask, fn func(context.Context, *Lease) error) (err error) {
	lease, err := l.acquire(ctx, a, true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lease.conclude(ctx)) }()
	inside, cancel := lease.within()
	defer cancel()
	return fn(inside, lease)
}
