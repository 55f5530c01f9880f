package holdfast

import (
	"cmp"
	"context"
	"errors"
	"slices"
)

// A Locker is a lock that LockAll can acquire: a *Mutex, an *RWMutex as its writer, or what [RWMutex.Reader] and
// [Semaphore.Permits] return.
type Locker interface {
	Lock(ctx context.Context) (*Lease, error)
	place() place
	twice() error
}

// A place orders locks, so that everybody acquires them in the same order and nobody waits in a circle.
type place struct{ backend, name string }

func (l *lock) place() place { return place{l.client.label, l.name} }

func (p place) compare(q place) int {
	return cmp.Or(cmp.Compare(p.backend, q.backend), cmp.Compare(p.name, q.name))
}

// Leases are locks that are held together.
type Leases []*Lease

// LockAll acquires several locks, or none: when one fails, those it had are released. It does so in the order of their
// names, whatever the order given, so that callers who want the same locks never wait for each other in a circle. The
// leases are in the order given. Naming a lock twice is ErrDeadlock.
func LockAll(ctx context.Context, locks ...Locker) (Leases, error) {
	order := make([]int, len(locks))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return locks[i].place().compare(locks[j].place()) })
	leases := make(Leases, len(locks))
	for k, i := range order {
		if k > 0 && locks[i].place() == locks[order[k-1]].place() {
			return nil, errors.Join(locks[i].twice(), leases.Release(ctx))
		}
		lease, err := locks[i].Lock(ctx)
		if err != nil {
			return nil, errors.Join(err, leases.Release(ctx))
		}
		leases[i] = lease
	}
	return leases, nil
}

func (l *lock) twice() error {
	return l.failure("lock", ErrDeadlock, errors.New("it is named twice; name it once"))
}

// Release releases all of them, and returns what went wrong, joined.
func (ls Leases) Release(ctx context.Context) error {
	var errs []error
	for _, l := range slices.Backward(ls) {
		if l != nil {
			errs = append(errs, l.Release(ctx))
		}
	}
	return errors.Join(errs...)
}

// Err returns nil while all of them are held, and otherwise why not.
func (ls Leases) Err() error {
	var errs []error
	for _, l := range ls {
		errs = append(errs, l.Err())
	}
	return errors.Join(errs...)
}

// Reader returns the lock for LockAll to acquire as a reader.
func (m *RWMutex) Reader() Locker { return &part{m.lock, reader} }

// Permits returns n permits of the semaphore for LockAll to acquire.
func (s *Semaphore) Permits(n int64) Locker { return &part{s.lock, s.permit(n)} }

// A part is a share of a lock.
type part struct {
	lock
	ask ask
}

func (p *part) Lock(ctx context.Context) (*Lease, error) { return p.acquire(ctx, p.ask, true) }
