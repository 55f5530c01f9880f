package caddylock

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/caddyserver/certmagic"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/adapters/certmagiclock"
)

// openTime bounds how long a configuration, and each lock that is wanted, waits for the backend of the locks.
const openTime = 10 * time.Second

// A late storage connects to the backend of its locks when it first can: Caddy serves the certificates that it has
// while that backend is down, and needs a lock only to get new ones. Until then what needs a lock fails, and CertMagic
// tries again later. It is safe for concurrent use.
type late struct {
	certmagic.Storage // the data
	open              func(context.Context) (*holdfast.Client, error)

	turn   chan struct{} // full while somebody looks at what follows, or connects
	locked *certmagiclock.Storage
	client *holdfast.Client // nil until it is connected, as locked is
	closed bool
}

func newLate(data certmagic.Storage, open func(context.Context) (*holdfast.Client, error)) *late {
	return &late{Storage: data, open: open, turn: make(chan struct{}, 1)}
}

var errClosed = errors.New("caddylock: this configuration has ended")

// connect returns the storage with its locks, and connects for that if need be.
func (l *late) connect(ctx context.Context) (*certmagiclock.Storage, error) {
	select {
	case l.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer func() { <-l.turn }()
	switch {
	case l.locked != nil: // also once it is closed: what is left to unlock is answered as ever
		return l.locked, nil
	case l.closed:
		return nil, errClosed
	}
	opening, cancel := context.WithTimeout(ctx, openTime)
	defer cancel()
	client, err := l.open(opening)
	if err != nil {
		return nil, fmt.Errorf("caddylock: %w", err)
	}
	l.client, l.locked = client, certmagiclock.Wrap(l.Storage, client)
	return l.locked, nil
}

// Lock waits for the lock. It is renewed until Unlock.
func (l *late) Lock(ctx context.Context, name string) error {
	s, err := l.connect(ctx)
	if err != nil {
		return err
	}
	return s.Lock(ctx, name)
}

// TryLock takes the lock if nobody has it.
func (l *late) TryLock(ctx context.Context, name string) (bool, error) {
	s, err := l.connect(ctx)
	if err != nil {
		return false, err
	}
	return s.TryLock(ctx, name)
}

// Unlock releases the lock, which was taken, so it is connected.
func (l *late) Unlock(ctx context.Context, name string) error {
	s, err := l.connect(ctx)
	if err != nil {
		return err
	}
	return s.Unlock(ctx, name)
}

// RenewLockLease reports whether the lock is still held.
func (l *late) RenewLockLease(ctx context.Context, name string, duration time.Duration) error {
	s, err := l.connect(ctx)
	if err != nil {
		return err
	}
	return s.RenewLockLease(ctx, name, duration)
}

// close releases all locks, and disconnects. Nobody connects after that.
func (l *late) close(ctx context.Context) error {
	select {
	case l.turn <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	l.closed = true
	client := l.client
	<-l.turn
	if client == nil {
		return nil
	}
	return client.Close(ctx)
}

var _ interface {
	certmagic.Storage
	certmagic.TryLocker
	certmagic.LockLeaseRenewer
} = (*late)(nil)
