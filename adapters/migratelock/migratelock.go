// Package migratelock lets one of several programs at a time migrate a database with golang-migrate, whatever the
// database.
//
//	driver, err := postgres.WithInstance(db, &postgres.Config{})
//	m, err := migrate.NewWithDatabaseInstance("file://migrations", "shop", migratelock.Wrap(driver, client, "shop"))
package migratelock

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/golang-migrate/migrate/v4/database"

	"github.com/holdfast-go/holdfast"
)

// Timeout bounds how long a Driver waits for the lock. It is shorter than golang-migrate's own limit
// ([migrate.DefaultLockTimeout], 15 s), after which the driver would go on waiting, and hold the lock for nobody until
// Close. So leave [migrate.Migrate.LockTimeout] as it is, or make it longer.
//
// [migrate.DefaultLockTimeout]: https://pkg.go.dev/github.com/golang-migrate/migrate/v4#DefaultLockTimeout
// [migrate.Migrate.LockTimeout]: https://pkg.go.dev/github.com/golang-migrate/migrate/v4#Migrate
const Timeout = 14 * time.Second

// A Driver is a database whose lock is Holdfast's. It replaces the lock of the driver that it wraps, so programs that
// migrate with that one alone must not run at the same time. It is safe for concurrent use if that driver is.
//
// Nothing is written under a lock that was lost: Run, SetVersion and Drop then fail with an error that matches
// [holdfast.ErrLost]. A migration that had begun is left like any that fails: the version is dirty.
type Driver struct {
	database.Driver
	mutex *holdfast.Mutex
	open  context.Context // ends with Close
	end   context.CancelFunc

	mu    sync.Mutex
	busy  bool            // it is locked, or Lock waits
	lease *holdfast.Lease // nil while it is not locked
	told  bool            // a write has failed because the lease had ended
}

// Wrap returns the driver with a lock of the client. Give each database a name of its own.
func Wrap(d database.Driver, client *holdfast.Client, name string, opts ...holdfast.Option) *Driver {
	return wrap(d, client.Mutex(name, opts...))
}

func wrap(d database.Driver, m *holdfast.Mutex) *Driver {
	open, end := context.WithCancel(context.Background())
	return &Driver{Driver: d, mutex: m, open: open, end: end}
}

// Open opens another database with the driver that is wrapped, under the same lock.
func (d *Driver) Open(url string) (database.Driver, error) {
	opened, err := d.Driver.Open(url)
	if err != nil {
		return nil, err
	}
	return wrap(opened, d.mutex), nil
}

// Close closes the database. Nobody unlocks after that, so the lock is given back if it is still held, as it is by a
// database whose session ends.
func (d *Driver) Close() (err error) {
	d.end()
	defer func() {
		if lease := d.held(); lease != nil {
			err = errors.Join(err, lease.Release(context.Background()))
		}
	}()
	return d.Driver.Close()
}

// Lock waits for the lock, but not longer than [Timeout]; then the error matches [database.ErrLocked] and
// [holdfast.ErrNotAcquired]. A driver that is locked, or waits for the lock, is not locked once more.
func (d *Driver) Lock() error {
	if !d.begin() {
		return fmt.Errorf("migratelock: this driver has locked it, or waits for that: %w", database.ErrLocked)
	}
	lease, err := d.await()
	switch {
	case errors.Is(err, holdfast.ErrNotAcquired):
		return fmt.Errorf("migratelock: %w: %w", database.ErrLocked, err)
	case err != nil:
		return fmt.Errorf("migratelock: %w", err)
	case d.open.Err() != nil: // Close may have come before there was anything to give back
		lease.Release(context.Background())
		return fmt.Errorf("migratelock: this driver is closed: %w", database.ErrLocked)
	}
	return nil
}

// begin reports whether nobody has locked the driver yet, nor waits.
func (d *Driver) begin() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	was := d.busy
	d.busy = true
	return !was
}

// await waits for the lock, and notes what came of that.
func (d *Driver) await() (lease *holdfast.Lease, err error) {
	defer func() { d.set(lease) }() // also after a panic
	ctx, cancel := context.WithTimeout(d.open, Timeout)
	defer cancel()
	return d.mutex.Lock(ctx)
}

// Unlock releases the lock. Its error matches holdfast.ErrLost if the lock was lost before and no write has failed for
// that reason yet.
//
// golang-migrate takes a database for locked for ever once its Unlock has failed. So a loss that it was told before is
// not told again, and the same Migrate can go on, for example with Force. After an error of Unlock, which says that
// migrations may not have been alone or that the backend does not answer, make another Migrate.
func (d *Driver) Unlock() error {
	lease, told := d.leave()
	if lease == nil {
		return fmt.Errorf("migratelock: %w", database.ErrNotLocked)
	}
	err := lease.Release(context.Background())
	if told && errors.Is(err, holdfast.ErrLost) {
		return nil
	}
	return err
}

// leave takes the lease out. told says whether a write has failed because it had ended.
func (d *Driver) leave() (lease *holdfast.Lease, told bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	lease, told = d.lease, d.told
	d.lease, d.busy, d.told = nil, false, false
	return lease, told
}

// Run applies a migration, unless the lock was lost.
func (d *Driver) Run(migration io.Reader) error {
	if err := d.lost(); err != nil {
		return err
	}
	return d.Driver.Run(migration)
}

// SetVersion records the version, unless the lock was lost.
func (d *Driver) SetVersion(version int, dirty bool) error {
	if err := d.lost(); err != nil {
		return err
	}
	return d.Driver.SetVersion(version, dirty)
}

// Drop empties the database, unless the lock was lost.
func (d *Driver) Drop() error {
	if err := d.lost(); err != nil {
		return err
	}
	return d.Driver.Drop()
}

// lost returns why nothing may be written under the lock any more. Who did not lock is not stopped, as nobody is whose
// driver has no locks.
func (d *Driver) lost() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.lease == nil {
		return nil
	}
	err := d.lease.Err()
	d.told = d.told || err != nil
	return err
}

func (d *Driver) held() *holdfast.Lease {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.lease
}

func (d *Driver) set(l *holdfast.Lease) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lease, d.busy, d.told = l, l != nil, false
}

var _ database.Driver = (*Driver)(nil)
