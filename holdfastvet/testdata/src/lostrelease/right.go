package lostrelease

import (
	"context"
	"errors"
	"time"

	"github.com/holdfast-go/holdfast"
)

type holder struct{ lease *holdfast.Lease }

func deferred(ctx context.Context, m *holdfast.Mutex) error {
	lease, err := m.Lock(ctx)
	if err != nil {
		return err
	}
	defer lease.Release(ctx)
	return work(lease.Context())
}

func deferredJoined(ctx context.Context, m *holdfast.Mutex) (err error) {
	lease, err := m.Lock(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lease.Release(ctx)) }()
	return work(lease.Context())
}

func onEachWay(ctx context.Context, m *holdfast.Mutex) error {
	lease, err := m.Lock(ctx)
	if err != nil {
		return err
	}
	if err := work(lease.Context()); err != nil {
		lease.Release(ctx)
		return err
	}
	return lease.Release(ctx)
}

func ifAcquired(ctx context.Context, m *holdfast.Mutex) {
	if lease, err := m.TryLock(ctx); err == nil {
		work(lease.Context())
		lease.Release(ctx)
	}
	if lease, err := m.TryLock(ctx); !(err != nil) && ctx.Err() == nil {
		lease.Release(ctx)
	} else if err == nil {
		lease.Release(ctx)
	}
	if lease, _ := m.TryLock(ctx); lease != nil {
		lease.Release(ctx)
	}
}

// Where the lock was not needed it is not held.
func ifNeeded(ctx context.Context, m *holdfast.Mutex, needed, free bool) (err error) {
	var lease *holdfast.Lease
	if needed {
		if lease, err = m.Lock(ctx); err != nil {
			return err
		}
	}
	err = work(ctx)
	if !needed {
		return err
	}
	if !free {
		lease.Release(ctx)
	} else {
		lease.Release(ctx)
	}
	if free {
		return err
	} else {
		lease, err = m.Lock(ctx)
	}
	if err == nil && !free {
		lease.Release(ctx)
	}
	return err
}

func ifNeededInThisTurn(ctx context.Context, m *holdfast.Mutex, turns []bool) (err error) {
	for _, needed := range turns {
		var lease *holdfast.Lease
		if needed {
			if lease, err = m.Lock(ctx); err != nil {
				return err
			}
		}
		err = work(ctx)
		if needed {
			lease.Release(ctx)
		}
	}
	return err
}

func classified(ctx context.Context, m *holdfast.Mutex, retry func(error) bool) error {
	for {
		lease, err := m.TryLock(ctx)
		switch {
		case errors.Is(err, holdfast.ErrNotAcquired), retry(err):
			time.Sleep(1)
			continue
		case err != nil:
			return err
		}
		return lease.Release(ctx)
	}
}

func byValue(ctx context.Context, m *holdfast.Mutex) error {
	lease, err := m.TryLock(ctx)
	switch err {
	case nil:
		return lease.Release(ctx)
	default:
		return err
	}
}

func byType(ctx context.Context, m *holdfast.Mutex) error {
	lease, err := m.TryLock(ctx)
	switch err.(type) {
	case nil:
		return lease.Release(ctx)
	default:
		return err
	}
}

// What becomes of a copy of the error is not followed.
func copied(ctx context.Context, m *holdfast.Mutex) error {
	lease, err := m.TryLock(ctx)
	busy := errors.Is(err, holdfast.ErrNotAcquired)
	if busy {
		return nil
	}
	return lease.Release(ctx)
}

// Functions of others may be true of an error, or of none.
func reported(ctx context.Context, m *holdfast.Mutex, isFine func(error) bool) error {
	lease, err := m.TryLock(ctx)
	if !went(err) {
		return nil
	}
	if isFine(err) {
		return lease.Release(ctx)
	}
	return nil
}

func went(err error) bool { return err == nil }

func returned(ctx context.Context, m *holdfast.Mutex) (*holdfast.Lease, error) {
	lease, err := m.Lock(ctx)
	if err != nil {
		return nil, err
	}
	return lease, nil
}

func returnedAtOnce(ctx context.Context, m *holdfast.Mutex) (*holdfast.Lease, error) {
	return m.Lock(ctx)
}

func named(ctx context.Context, m *holdfast.Mutex) (lease *holdfast.Lease, err error) {
	lease, err = m.Lock(ctx)
	return
}

func passedOn(ctx context.Context, m *holdfast.Mutex, h *holder, to chan *holdfast.Lease, atEnd func(func())) error {
	var err error
	a, _ := m.Lock(ctx)
	h.lease = a
	b, _ := m.Lock(ctx)
	to <- b
	c, _ := m.Lock(ctx)
	keep(c)
	d, _ := m.Lock(ctx)
	atEnd(func() { d.Release(ctx) })
	e, _ := m.Lock(ctx)
	keep(e.Release)
	f, _ := m.Lock(ctx)
	keep(holder{f})
	h.lease, err = m.Lock(ctx)
	var g *holdfast.Lease
	func() { g, err = m.Lock(ctx) }()
	keep(err)
	return g.Release(ctx)
}

func detached(ctx context.Context, m *holdfast.Mutex) (string, error) {
	lease, err := m.Lock(ctx)
	if err != nil {
		return "", err
	}
	return lease.Detach(ctx)
}

// What a lease says may be that it is lost, and then there is nothing to release.
func lost(ctx context.Context, m *holdfast.Mutex) error {
	lease, err := m.Lock(ctx)
	if err != nil {
		return err
	}
	select {
	case <-lease.Done():
		return lease.Err()
	case <-time.After(time.Second):
	}
	if err := lease.Check(ctx); err != nil {
		return err
	}
	if err := lease.SetValue(ctx, "page 7"); err != nil {
		return err
	}
	return lease.Release(ctx)
}

// The context of a lease ends with the lease alone, so it says the same.
func lostByContext(ctx context.Context, m *holdfast.Mutex) error {
	lease, err := m.Lock(ctx)
	if err != nil {
		return err
	}
	if lease.Context().Err() != nil {
		return context.Cause(lease.Context())
	}
	held := lease.Context()
	if work(held); held.Err() != nil {
		return context.Cause(held)
	}
	select {
	case <-held.Done():
		return context.Cause(held)
	case <-lease.Context().Done():
		return context.Cause(held)
	case <-ctx.Done():
	}
	return lease.Release(ctx)
}

func doAll(ctx context.Context, a, b *holdfast.Mutex) error {
	leases, err := holdfast.LockAll(ctx, a, b)
	if err != nil {
		return err
	}
	return leases.Do(ctx, func(ctx context.Context, ls holdfast.Leases) error { return work(ctx) })
}

// Closing the client gives back all that it holds.
func closes(ctx context.Context, c *holdfast.Client) {
	defer c.Close(ctx)
	c.Mutex("a").Lock(ctx)
	lease, err := c.Mutex("b").Lock(ctx)
	if err != nil {
		return
	}
	keep(lease.Token())
}

func forEver(ctx context.Context, m *holdfast.Mutex) {
	lease, err := m.Lock(ctx)
	if err != nil {
		panic(err)
	}
	for {
		count(lease.Token())
	}
}

// Who looks finds the lease that a context carries, which is another's to release.
func looksOnly(ctx context.Context) uint64 {
	lease, ok := holdfast.LeaseFrom(ctx)
	if !ok {
		return 0
	}
	return lease.Token()
}
