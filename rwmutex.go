package holdfast

import (
	"context"

	"github.com/holdfast-go/holdfast/driver"
)

// An RWMutex is a lock that many readers or one writer have at a time. First come, first served: readers do not
// overtake a writer that waits.
type RWMutex struct{ lock }

// RWMutex describes the readers-writer lock with this name.
func (c *Client) RWMutex(name string, opts ...Option) *RWMutex {
	return &RWMutex{c.lock(name, opts)}
}

var (
	writer = ask{kind: "write", mode: exclusive, weight: driver.All, limit: driver.All}
	reader = ask{kind: "read", mode: shared, weight: 1, limit: driver.All}
)

// Lock waits for the lock as a writer: see [Mutex.Lock].
func (m *RWMutex) Lock(ctx context.Context) (*Lease, error) { return m.acquire(ctx, writer, true) }

// TryLock acquires the lock as a writer if that needs no wait: see [Mutex.TryLock].
func (m *RWMutex) TryLock(ctx context.Context) (*Lease, error) { return m.acquire(ctx, writer, false) }

// Do calls fn while holding the lock as a writer: see [Mutex.Do].
func (m *RWMutex) Do(ctx context.Context, fn func(ctx context.Context, l *Lease) error) error {
	return m.do(ctx, writer, fn)
}

// RLock waits for the lock as a reader: see [Mutex.Lock].
func (m *RWMutex) RLock(ctx context.Context) (*Lease, error) { return m.acquire(ctx, reader, true) }

// TryRLock acquires the lock as a reader if that needs no wait: see [Mutex.TryLock].
func (m *RWMutex) TryRLock(ctx context.Context) (*Lease, error) { return m.acquire(ctx, reader, false) }

// RDo calls fn while holding the lock as a reader: see [Mutex.Do].
func (m *RWMutex) RDo(ctx context.Context, fn func(ctx context.Context, l *Lease) error) error {
	return m.do(ctx, reader, fn)
}
