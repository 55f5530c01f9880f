package holdfast

import (
	"context"
	"slices"
)

// A leaseContext ends with its lease. Whoever asks it has the deadline looked at, so it is right in the first
// instruction after a pause, as [Lease.Err] is. Contexts that are derived from it end when somebody has looked, the
// keeper of the client at the latest.
type leaseContext struct {
	context.Context // ended by end
	end             context.CancelCauseFunc
	lease           *Lease
}

// Done implements [context.Context].
func (c *leaseContext) Done() <-chan struct{} {
	c.look()
	return c.Context.Done()
}

// Err implements [context.Context].
func (c *leaseContext) Err() error {
	c.look()
	return c.Context.Err()
}

func (c *leaseContext) look() {
	if err := c.lease.over(); err != nil {
		c.end(err)
	}
}

// Context returns a context that carries the lease and the values of the acquiring context. It does not end with that
// context, but with the lease, and then has a *LostError or ErrReleased as its cause. Its own methods look at the
// deadline, like [Lease.Err]. A context that is derived from it learns of the deadline from a goroutine of the client.
func (l *Lease) Context() context.Context {
	l.grant.hold.watch()
	if c := l.shared(nil); c != nil {
		return c
	}
	// Not under the lock: what the acquiring context carries may be another lease on this grant, and looks at it.
	return l.shared(l.endingWith(context.WithoutCancel(l.from)))
}

// shared returns the context that all who ask get: the first that was offered.
func (l *Lease) shared(offered *leaseContext) *leaseContext {
	l.grant.mu.Lock()
	defer l.grant.mu.Unlock()
	if l.ctx == nil && offered != nil {
		l.ctx = offered
		if err := l.endedLocked(); err != nil {
			l.ctx.end(err)
		}
	}
	return l.ctx
}

// Done returns a channel that is closed when the lease ends. If the exact moment matters, prefer Err, ValidUntil or the
// context's Err: after a pause, a process runs on before the channel is closed.
func (l *Lease) Done() <-chan struct{} { return l.Context().Done() }

// within returns the acquiring context with the lease in it, ending with either.
func (l *Lease) within() (context.Context, func()) {
	inside := l.endingWith(l.from)
	stop := l.follow(inside.look)
	return inside, func() {
		stop()
		inside.end(nil)
	}
}

func (l *Lease) endingWith(ctx context.Context) *leaseContext {
	c := &leaseContext{lease: l}
	c.Context, c.end = context.WithCancelCause(carry(ctx, l))
	return c
}

// A follower is what ends with a lease.
type follower struct{ look func() }

// follow has look called when the lease ends: by whoever ends it, before the lock can be somebody else's, so that a
// context that follows is never seen alive beside the next holder's.
func (l *Lease) follow(look func()) (stop func()) {
	l.grant.hold.watch()
	f := &follower{look}
	l.grant.mu.Lock()
	over := l.endedLocked() != nil
	if !over {
		l.followers = append(l.followers, f)
	}
	l.grant.mu.Unlock()
	if over {
		look()
	}
	return func() {
		l.grant.mu.Lock()
		defer l.grant.mu.Unlock()
		l.followers = slices.DeleteFunc(l.followers, func(g *follower) bool { return g == f })
	}
}

// followed calls those who follow a lease that is over. Not under the lock: they look at the lease.
func (l *Lease) followed() {
	var fs []*follower
	l.grant.mu.Lock()
	if l.endedLocked() != nil {
		fs, l.followers = l.followers, nil
	}
	l.grant.mu.Unlock()
	for _, f := range fs {
		f.look()
	}
}

func followed(leases []*Lease) {
	for _, l := range leases {
		l.followed()
	}
}
