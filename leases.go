package holdfast

import (
	"context"
	"errors"
	"slices"
	"time"
)

// Leases are locks that are held together, as [LockAll] returns them.
type Leases []*Lease

// Do calls fn, and releases all leases however fn ends, the last one first. The context of fn carries the values of ctx
// and all leases, and ends with ctx or with any lease. Do returns what fn returned, joined with the errors of the
// releases: work done under a lost lock is never reported as a success. If a lease has already ended, fn is not called.
func (ls Leases) Do(ctx context.Context, fn func(ctx context.Context, ls Leases) error) (err error) {
	defer func() { err = errors.Join(err, ls.conclude(ctx)) }()
	inside := ls.endingWith(ctx)
	defer inside.end(nil)
	defer inside.follow()()
	if err := ls.Err(); err != nil {
		return err
	}
	return fn(inside, ls)
}

// Release releases all of them, the last one first, and returns their errors, joined.
func (ls Leases) Release(ctx context.Context) error {
	return ls.each(func(l *Lease) error { return l.Release(ctx) })
}

// conclude releases all at the end of what was done under them.
func (ls Leases) conclude(ctx context.Context) error {
	return ls.each(func(l *Lease) error { return l.conclude(ctx) })
}

// Err returns nil while all of them are held, and otherwise the reason why not. Like [Lease.Err] it looks at the
// deadlines itself.
func (ls Leases) Err() error {
	return ls.each((*Lease).Err)
}

// each calls f for each lease, from the last to the first, and joins what went wrong. When f panics, it is called for
// the others before that goes on up.
func (ls Leases) each(f func(*Lease) error) error {
	var errs []error
	for i, l := range slices.Backward(ls) {
		if l != nil { // see present
			errs = append(errs, ls[:i].orPanic(f, l))
		}
	}
	return errors.Join(errs...)
}

// orPanic calls f for a lease, and for those before it if that panics.
func (ls Leases) orPanic(f func(*Lease) error, l *Lease) (err error) {
	returned := false
	defer func() {
		if !returned {
			_ = ls.each(f) // the panic says what is wrong
		}
	}()
	err = f(l)
	returned = true
	return err
}

// present returns a copy without the places that are empty, as they are while LockAll is under way.
func (ls Leases) present() Leases {
	return slices.DeleteFunc(slices.Clone(ls), func(l *Lease) bool { return l == nil })
}

// ValidUntil returns the time at which the first of them ends unless it is renewed before, or the zero time if there
// are none.
func (ls Leases) ValidUntil() (first time.Time) {
	for _, l := range ls.present() {
		if t := l.ValidUntil(); first.IsZero() || t.Before(first) {
			first = t
		}
	}
	return first
}

// Context returns a context that carries all leases, and the values of the context under which the first was acquired.
// It does not end with that context, but with the first lease that ends, and then has a *LostError or ErrReleased as
// its cause. Its own methods look at the deadlines, as those of [Lease.Context] do. Each call makes a new context,
// which is kept until then: call it once.
func (ls Leases) Context() context.Context {
	base := context.Background()
	if ls = ls.present(); len(ls) > 0 {
		base = context.WithoutCancel(ls[0].from)
	}
	c := ls.endingWith(base)
	c.follow()
	return c
}

// A leasesContext ends with any of several leases, as a leaseContext does with its own.
type leasesContext struct {
	context.Context // ended by end
	end             context.CancelCauseFunc
	leases          Leases
}

func (ls Leases) endingWith(ctx context.Context) *leasesContext {
	c := &leasesContext{leases: ls.present()}
	for _, l := range c.leases {
		ctx = carry(ctx, l)
	}
	c.Context, c.end = context.WithCancelCause(ctx)
	return c
}

// follow ends the context when a lease ends, until the function that it returns is called.
func (c *leasesContext) follow() (stop func()) {
	stops := make([]func(), len(c.leases))
	for i, l := range c.leases {
		stops[i] = l.follow(c.look)
	}
	return func() {
		for _, stop := range stops {
			stop()
		}
	}
}

// Done implements [context.Context].
func (c *leasesContext) Done() <-chan struct{} {
	c.look()
	return c.Context.Done()
}

// Err implements [context.Context].
func (c *leasesContext) Err() error {
	c.look()
	return c.Context.Err()
}

func (c *leasesContext) look() {
	for _, l := range c.leases {
		if err := l.over(); err != nil {
			c.end(err)
			return
		}
	}
}
