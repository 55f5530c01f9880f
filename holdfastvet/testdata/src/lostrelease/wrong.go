package lostrelease

import (
	"context"
	"errors"
	"log"

	"github.com/holdfast-go/holdfast"
)

func work(context.Context) error      { return nil }
func count(token uint64) (int, error) { return 0, nil }
func keep(...any)                     {}

func never(ctx context.Context, m *holdfast.Mutex) error {
	lease, err := m.Lock(ctx) // want `^the lock is never released: the function may end in line 21 with it held;`
	if err != nil {
		return err
	}
	work(lease.Context())
	return lease.Err()
}

func early(ctx context.Context, m *holdfast.Mutex) error {
	lease, err := m.Lock(ctx) // want `not released on every path: the function may end in line 30`
	if err != nil {
		return err
	}
	if err := work(lease.Context()); err != nil {
		return err
	}
	return lease.Release(ctx)
}

// The second err has the name of the first, and says nothing of the acquisition any more.
func reused(ctx context.Context, m *holdfast.Mutex) error {
	lease, err := m.TryLock(ctx) // want `may end in line 43`
	if errors.Is(err, errors.ErrUnsupported) || err != nil {
		return err
	}
	n, err := count(lease.Token())
	if err != nil {
		return err
	}
	keep(n)
	return lease.Release(ctx)
}

func fallsOff(ctx context.Context, m *holdfast.Mutex, really bool) {
	lease, err := m.Lock(ctx) // want `may end in line 57`
	if err != nil {
		log.Fatal(err)
	}
	if really {
		lease.Release(ctx)
	}
}

func several(ctx context.Context, a, b *holdfast.Mutex) error {
	leases, err := holdfast.LockAll(ctx, a, b) // want `never released`
	if err != nil {
		return err
	}
	return work(leases.Context())
}

func firstOnly(ctx context.Context, a, b *holdfast.Mutex) error {
	first, err := a.Lock(ctx)
	if err != nil {
		return err
	}
	defer first.Release(ctx)
	second, err := b.Lock(ctx) // want `never released`
	if err != nil {
		return err
	}
	_, err = count(second.Token())
	return err
}

func dropped(ctx context.Context, m *holdfast.Mutex, l holdfast.Locker) error {
	m.Lock(ctx)           // want `the lease is dropped, so nobody can release the lock or learn that it is lost`
	go m.Lock(ctx)        // want `the lease is dropped`
	_, err := l.Lock(ctx) // want `the lease is dropped`
	return err
}

func declared(ctx context.Context, e *holdfast.Election) {
	var lease, err = e.Campaign(ctx, "here") // want `never released`
	keep(lease.Name(), err)
}

func inClosure(ctx context.Context, m *holdfast.Mutex) func() error {
	return func() error {
		lease, err := m.Lock(ctx) // want `never released`
		if lease == nil {
			return err
		}
		return work(lease.Context())
	}
}

func inLoop(ctx context.Context, m *holdfast.Mutex) error {
	for range 3 {
		lease, err := m.TryLock(ctx) // want `not released on every path`
		if err != nil {
			continue
		}
		if work(lease.Context()) != nil {
			break
		}
		lease.Release(ctx)
	}
	return nil
}

func choice(ctx context.Context, m *holdfast.Mutex) error {
	lease, err := m.TryLock(ctx) // want `may end in line 126`
	switch {
	case errors.Is(err, holdfast.ErrNotAcquired):
		return nil
	case err != nil:
		return err
	}
	if work(lease.Context()) != nil {
		return errors.New("no")
	}
	return lease.Release(ctx)
}

// What a condition said of the acquisition is over when its variable was set.
func noLongerNeeded(ctx context.Context, m *holdfast.Mutex, needed bool) {
	var lease *holdfast.Lease
	if needed {
		lease, _ = m.Lock(ctx) // want `not released on every path`
	}
	if needed = work(ctx) == nil; needed {
		lease.Release(ctx)
	}
}

func otherCondition(ctx context.Context, m *holdfast.Mutex, needed, free bool) {
	var lease *holdfast.Lease
	if needed {
		lease, _ = m.Lock(ctx) // want `not released on every path`
	}
	if free {
		lease.Release(ctx)
	}
}

func neededOnly(ctx context.Context, m *holdfast.Mutex, needed bool) {
	var lease *holdfast.Lease
	if !needed {
		work(ctx)
	} else {
		lease, _ = m.Lock(ctx) // want `not released on every path`
	}
	if !needed {
		lease.Release(ctx)
	}
}

func setElsewhere(ctx context.Context, m *holdfast.Mutex, set func(*bool)) {
	var lease *holdfast.Lease
	var needed bool
	set(&needed)
	if needed {
		lease, _ = m.Lock(ctx) // want `not released on every path`
	}
	set(&needed)
	if needed {
		lease.Release(ctx)
	}
}

func ranged(ctx context.Context, m *holdfast.Mutex, turns []bool, needed bool) {
	var lease *holdfast.Lease
	if needed {
		lease, _ = m.Lock(ctx) // want `not released on every path`
	}
	for _, needed = range turns {
	}
	if needed {
		lease.Release(ctx)
	}
}

// Each turn of a loop has a condition of its own.
func neededInThatTurn(ctx context.Context, m *holdfast.Mutex) {
	var lease *holdfast.Lease
	for {
		needed := work(ctx) == nil
		if needed {
			lease, _ = m.Lock(ctx) // want `not released on every path`
		}
		if !needed {
			return
		}
		if work(ctx) == nil {
			lease.Release(ctx)
		}
	}
}

// A value is for the next holders, who wait as long as the lock is held.
func leavesValue(ctx context.Context, m *holdfast.Mutex) error {
	lease, err := m.Lock(ctx) // want `never released`
	if err != nil {
		return err
	}
	return lease.SetValue(ctx, "page 7")
}

func readsValue(ctx context.Context, m *holdfast.Mutex) error {
	lease, err := m.Lock(ctx) // want `not released on every path`
	if err != nil {
		return err
	}
	if v, err := lease.Value(ctx); err != nil || v.Text == "" {
		return err
	}
	return lease.Release(ctx)
}
