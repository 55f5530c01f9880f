package holdfast

import (
	"context"
	"errors"
	"iter"
)

// Go has no thread identity, so the context says who holds what: the context of a lease carries the lease, and those
// that its acquiring context carried.

type carriedKey struct{}

// carried is a lease that a context carries, in front of those it carried before.
type carried struct {
	lease *Lease
	outer *carried
}

// carry returns a context that also carries the lease.
func carry(ctx context.Context, l *Lease) context.Context {
	outer, _ := ctx.Value(carriedKey{}).(*carried)
	return context.WithValue(ctx, carriedKey{}, &carried{lease: l, outer: outer})
}

// LeaseFrom returns the lease that a context carries: in Do, the lease of the lock that was acquired last; elsewhere,
// the lease whose [Lease.Context] the context comes from. The lease may have ended: see [Lease.Err]. ok is false if the
// context carries none.
func LeaseFrom(ctx context.Context) (l *Lease, ok bool) {
	for l := range leasesIn(ctx) {
		return l, true
	}
	return nil, false
}

// WithoutLease returns a context that carries no lease, for goroutines that acquire for themselves what ctx holds: they
// wait for it like everybody else. Otherwise it is like ctx: it ends with ctx, and so with the lease that ends ctx. A
// goroutine that uses it to wait for a lock that it holds itself waits forever.
func WithoutLease(ctx context.Context) context.Context {
	return context.WithValue(ctx, carriedKey{}, (*carried)(nil))
}

// heldThrough returns the lease on this lock that ctx carries and that matters to the ask: the last one that is not
// over. Semaphores are exempt, because several claims of one owner on them are their use.
func heldThrough(ctx context.Context, l *lock, a ask) *Lease {
	if a.mode == permits {
		return nil
	}
	for lease := range leasesIn(ctx) {
		g := lease.grant
		if g.lock.client == l.client && g.lock.name == l.name && g.ask.mode != permits && lease.over() == nil {
			return lease
		}
	}
	return nil
}

// leasesIn yields the leases that ctx carries, the last one first, those that are over, too.
func leasesIn(ctx context.Context) iter.Seq[*Lease] {
	return func(yield func(*Lease) bool) {
		h, _ := ctx.Value(carriedKey{}).(*carried)
		for ; h != nil && yield(h.lease); h = h.outer {
		}
	}
}

// again counts one more acquisition of what the context holds, or explains why it would wait for itself. It returns
// neither when that was given back meanwhile.
func (l *lock) again(ctx context.Context, outer *Lease, a ask) (*Lease, error) {
	switch {
	case outer.grant.ask.mode == shared && a.mode == exclusive:
		return nil, l.failure("lock", ErrDeadlock, errors.New("a reader cannot become the writer; release first"))
	case !l.settings.reentrant:
		return nil, l.failure("lock", ErrDeadlock,
			errors.New("use WithReentrant to count instead, or a context without the lease"))
	default:
		return l.inner(ctx, outer, a)
	}
}

// inner counts one more acquisition within an outer one. Go cannot tell who calls, but such acquisitions of one
// caller nest: while one lives, another through the same context is somebody else's, and may not go beside it unless
// both read.
func (l *lock) inner(ctx context.Context, outer *Lease, a ask) (*Lease, error) {
	g := outer.grant
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, other := range g.leases {
		if other.isWithin(outer) && (other.mode != shared || a.mode != shared) {
			return nil, l.failure("lock", ErrDeadlock, errSharedContext)
		}
	}
	lease := g.leaseLocked(ctx, nil)
	if lease != nil {
		lease.outer, lease.mode = outer, a.mode
	}
	return lease, nil
}

var errSharedContext = errors.New("it was acquired again through the same context, and is not released; " +
	"give each goroutine a context of its own, made by WithoutLease")

// isWithin reports whether a lease was acquired through a context of outer, or of one within that.
func (l *Lease) isWithin(outer *Lease) bool {
	for o := l.outer; o != nil; o = o.outer {
		if o == outer {
			return true
		}
	}
	return false
}
