// Package certmagiclock makes the locks of CertMagic, and so of Caddy, fair, renewed and fenced: it wraps a storage and
// replaces its locks.
//
//	certmagic.Default.Storage = certmagiclock.Wrap(storage, client)
package certmagiclock

import (
	"context"
	"errors"
	"fmt"
	"slices"
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

// RenewLockLease reports whether the lock is still held, as the backend says. If it was lost and nobody has it, it is
// taken again: CertMagic begins anew with each attempt, by looking whether another has done the work. Then Unlock tells
// about the time since. Locks are renewed anyway, so the duration does not matter.
func (s *Storage) RenewLockLease(ctx context.Context, name string, _ time.Duration) error {
	lease := s.first(name)
	if lease == nil {
		return notHeld(name)
	}
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	err := lease.Check(ctx)
	if errors.Is(err, holdfast.ErrLost) {
		return s.lockAgain(ctx, name, lease, err)
	}
	return err
}

// answerTime bounds how long a renewal waits for the backend. The contexts of CertMagic's jobs have no end, and one
// answer that is lost would hold such a job up for ever.
const answerTime = 5 * time.Second

// lockAgain takes a lock that was lost, if it can be had.
func (s *Storage) lockAgain(ctx context.Context, name string, lost *holdfast.Lease, why error) error {
	lease, err := s.client.Mutex(name, s.options...).TryLock(ctx)
	if err != nil {
		return errors.Join(why, err)
	}
	if !s.replace(name, lost, lease) { // it was unlocked meanwhile
		return errors.Join(why, lease.Release(ctx))
	}
	return nil
}

// replace puts a lease in the place of another one, and reports whether that was there.
func (s *Storage) replace(name string, old, lease *holdfast.Lease) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.Index(s.leases[name], old)
	if i < 0 {
		return false
	}
	s.leases[name][i] = lease
	return true
}

// first returns the lease that has been there for longest, or nil.
func (s *Storage) first(name string) *holdfast.Lease {
	s.mu.Lock()
	defer s.mu.Unlock()
	if leases := s.leases[name]; len(leases) > 0 {
		return leases[0]
	}
	return nil
}

// oldest is first, and takes the lease out.
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
