package holdfast

import (
	"context"
	"errors"
	"iter"
)

// Go has no thread identity, so the context says who holds what: the context of a lease carries the lease, and those
// that its acquiring context carried.

type heldKey struct{}

// A held is a lease that a context carries, in front of those it carried before.
type held struct {
	lease *Lease
	outer *held
}

// carry returns a context that also carries the lease.
func carry(ctx context.Context, l *Lease) context.Context {
	outer, _ := ctx.Value(heldKey{}).(*held)
	return context.WithValue(ctx, heldKey{}, &held{lease: l, outer: outer})
}

// heldIn returns the lease on this lock that ctx carries and that matters to the ask: the last one that is not over.
// Semaphores are exempt, since several claims of one owner on them are their use.
func heldIn(ctx context.Context, l *lock, a ask) *Lease {
	if a.mode == permits {
		return nil
	}
	for lease := range leasesIn(ctx) {
		g := lease.grant
		if g.lock.client == l.client && g.lock.name == l.name && g.ask.mode != permits && lease.Err() == nil {
			return lease
		}
	}
	return nil
}

// leasesIn yields the leases that ctx carries, the last one first, those that are over, too.
func leasesIn(ctx context.Context) iter.Seq[*Lease] {
	return func(yield func(*Lease) bool) {
		h, _ := ctx.Value(heldKey{}).(*held)
		for ; h != nil && yield(h.lease); h = h.outer {
		}
	}
}

// again counts one more acquisition of what the context holds, or explains why it would wait for itself. It returns
// neither when that was given back meanwhile.
func (l *lock) again(ctx context.Context, held *Lease, a ask) (*Lease, error) {
	switch {
	case held.grant.ask.mode == shared && a.mode == exclusive:
		return nil, l.failure("lock", ErrDeadlock, errors.New("a reader cannot become the writer; release first"))
	case !l.settings.reentrant:
		return nil, l.failure("lock", ErrDeadlock, errors.New("use WithReentrant to count instead, or a context without the lease"))
	default:
		return held.grant.lease(ctx), nil
	}
}
