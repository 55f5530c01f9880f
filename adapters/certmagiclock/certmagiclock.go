// Package certmagiclock makes the locks of CertMagic, and so of Caddy, fair, renewed and fenced: it wraps a storage and
// replaces its locks.
//
//	certmagic.Default.Storage = certmagiclock.Wrap(storage, client)
package certmagiclock

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/caddyserver/certmagic"

	"github.com/holdfast-go/holdfast"
)

// Storage is a storage whose locks are Holdfast's. It implements [certmagic.Storage], [certmagic.TryLocker] and
// [certmagic.LockLeaseRenewer], and is safe for concurrent use.
type Storage struct {
	certmagic.Storage
	client  *holdfast.Client
	options []holdfast.Option

	mu     sync.Mutex
	leases map[string][]*holdfast.Lease // held now, by name: several when one was lost that is not unlocked yet
}

// Wrap returns the storage with locks of the client.
func Wrap(s certmagic.Storage, client *holdfast.Client, opts ...holdfast.Option) *Storage {
	return &Storage{Storage: s, client: client, options: opts, leases: make(map[string][]*holdfast.Lease)}
}

// Lock waits for the lock. It is renewed until Unlock.
func (s *Storage) Lock(ctx context.Context, name string) error {
	lease, err := s.client.Mutex(name, s.options...).Lock(ctx)
	if err != nil {
		return err
	}
	s.note(name, lease)
	return nil
}

// TryLock takes the lock if nobody has it.
func (s *Storage) TryLock(ctx context.Context, name string) (bool, error) {
	lease, err := s.client.Mutex(name, s.options...).TryLock(ctx)
	switch {
	case errors.Is(err, holdfast.ErrNotAcquired) && ctx.Err() == nil:
		return false, nil
	case err != nil:
		return false, err
	}
	s.note(name, lease)
	return true, nil
}

// Unlock releases the lock. An error that matches [holdfast.ErrLost] says that the work under it was not exclusive. If
// the lock was lost to another user of this storage, the first call of Unlock returns that error, as the loser locked
// first.
func (s *Storage) Unlock(ctx context.Context, name string) error {
	lease := s.oldest(name)
	if lease == nil {
		return notHeld(name)
	}
	return lease.Release(ctx)
}

// RenewLockLease reports whether the lock is still held, as the backend says. Locks are renewed anyway, so the duration
// does not matter.
func (s *Storage) RenewLockLease(ctx context.Context, name string, _ time.Duration) error {
	s.mu.Lock()
	leases := s.leases[name]
	s.mu.Unlock()
	if len(leases) == 0 {
		return notHeld(name)
	}
	return leases[0].Check(ctx)
}

// oldest takes out the lease that has been there for longest, or returns nil.
func (s *Storage) oldest(name string) *holdfast.Lease {
	s.mu.Lock()
	defer s.mu.Unlock()
	leases := s.leases[name]
	switch len(leases) {
	case 0:
		return nil
	case 1:
		delete(s.leases, name)
	default:
		s.leases[name] = leases[1:]
	}
	return leases[0]
}

func (s *Storage) note(name string, lease *holdfast.Lease) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leases[name] = append(s.leases[name], lease)
}

func notHeld(name string) error {
	return fmt.Errorf("lock %q is not held by this storage; lock it first", name)
}

var _ interface {
	certmagic.Storage
	certmagic.TryLocker
	certmagic.LockLeaseRenewer
} = (*Storage)(nil)
