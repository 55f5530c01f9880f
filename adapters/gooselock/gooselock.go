// Package gooselock lets one of several programs at a time migrate a database with goose, whatever the database.
//
//	locker := gooselock.New(client, "shop")
//	provider, err := goose.NewProvider(goose.DialectPostgres, db, files, goose.WithLocker(locker))
//
// goose has lockers for PostgreSQL only. This one locks on the backend of the client, which need not be the database.
package gooselock

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"

	"github.com/holdfast-go/holdfast"
)

// A Locker locks migrations under one name. It implements the Locker of github.com/pressly/goose/v3/lock, and its
// SessionLocker, and is safe for concurrent use: a second call of Lock waits, also in the same program.
type Locker struct {
	mutex *holdfast.Mutex

	mu     sync.Mutex
	leases []*holdfast.Lease // oldest first: several when one was lost that is not unlocked yet
}

// New returns a locker. Give each database a name of its own.
func New(client *holdfast.Client, name string, opts ...holdfast.Option) *Locker {
	return &Locker{mutex: client.Mutex(name, opts...)}
}

// Lock waits for the lock, which is renewed until Unlock.
func (l *Locker) Lock(ctx context.Context, _ *sql.DB) error {
	lease, err := l.mutex.Lock(ctx)
	if err != nil {
		return fmt.Errorf("gooselock: %w", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.leases = append(l.leases, lease)
	return nil
}

// Unlock releases the lock. goose returns its error with those of the migrations. An error that matches
// [holdfast.ErrLost] says that the lock was lost while they ran: another program may have migrated, too. goose has no
// way to stop them.
func (l *Locker) Unlock(ctx context.Context, _ *sql.DB) error {
	lease := l.oldest()
	if lease == nil {
		return errors.New("gooselock: the lock is not held")
	}
	if err := lease.Release(ctx); err != nil {
		return fmt.Errorf("gooselock: %w", err)
	}
	return nil
}

// oldest takes out the lease that has been there for longest, or returns nil.
func (l *Locker) oldest() (lease *holdfast.Lease) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.leases) > 0 {
		lease, l.leases = l.leases[0], l.leases[1:]
	}
	return lease
}

// SessionLock is Lock.
func (l *Locker) SessionLock(ctx context.Context, _ *sql.Conn) error { return l.Lock(ctx, nil) }

// SessionUnlock is Unlock.
func (l *Locker) SessionUnlock(ctx context.Context, _ *sql.Conn) error { return l.Unlock(ctx, nil) }
