package holdfast

import (
	"context"
	"fmt"

	"github.com/holdfast-go/holdfast/driver"
)

// A Semaphore has a number of permits, of which each holder has some. Each lease has an identity and a TTL of its own,
// so a crash leaks no permit, and a second Release adds none.
type Semaphore struct {
	lock
	permits int64
}

// Semaphore describes the semaphore with this name and number of permits, on which all its users must agree. If they do
// not, the smallest number in the queue counts.
func (c *Client) Semaphore(name string, permits int64, opts ...Option) *Semaphore {
	return &Semaphore{lock: c.lock(name, opts), permits: permits}
}

// Acquire waits for n permits: see [Mutex.Lock].
func (s *Semaphore) Acquire(ctx context.Context, n int64) (*Lease, error) {
	return s.acquire(ctx, s.permit(n), true)
}

// TryAcquire acquires n permits if that needs no wait: see [Mutex.TryLock].
func (s *Semaphore) TryAcquire(ctx context.Context, n int64) (*Lease, error) {
	return s.acquire(ctx, s.permit(n), false)
}

// Do calls fn while holding n permits: see [Mutex.Do].
func (s *Semaphore) Do(ctx context.Context, n int64, fn func(ctx context.Context, l *Lease) error) error {
	return s.do(ctx, s.permit(n), fn)
}

// check reports what is wrong with the permits of a semaphore.
func (a ask) check() error {
	switch {
	case a.mode != permits:
		return nil
	case a.limit < 1 || a.limit > driver.All:
		return fmt.Errorf("a semaphore of %d permits: it must have from 1 to %d", a.limit, driver.All)
	case a.weight < 1 || a.weight > a.limit:
		return fmt.Errorf("%d permits of %d: ask for 1 to %d", a.weight, a.limit, a.limit)
	default:
		return nil
	}
}

func (s *Semaphore) permit(n int64) ask {
	return ask{kind: "semaphore", mode: permits, weight: n, limit: s.permits}
}
