// Package gocronlock lets several gocron schedulers share their jobs: each run is made by one of them.
//
//	scheduler, err := gocron.NewScheduler(gocron.WithDistributedLocker(gocronlock.NewLocker(client, 30*time.Second)))
//
// With a [Locker] each run of a job goes to whichever scheduler is first; with an [Elector] one scheduler runs all jobs,
// and another takes over when it is gone.
package gocronlock

import (
	"context"
	"slices"
	"time"

	"github.com/go-co-op/gocron/v2"

	"github.com/holdfast-go/holdfast"
)

// A Locker locks each run of a job under the job's name. It implements [gocron.Locker].
type Locker struct {
	client  *holdfast.Client
	options []holdfast.Option
}

// NewLocker returns a locker. The lock of a run stays taken for splay from its start, though the job may end before: so
// a scheduler whose clock is late does not run a short job once more. splay should be longer than clocks differ, and
// shorter than the time between two runs.
func NewLocker(client *holdfast.Client, splay time.Duration, opts ...holdfast.Option) *Locker {
	return &Locker{client: client, options: append(slices.Clone(opts), holdfast.WithMinHold(splay))}
}

// Lock takes the lock of a run, or fails at once since another scheduler has it; the error then matches
// [holdfast.ErrNotAcquired].
func (l *Locker) Lock(ctx context.Context, key string) (gocron.Lock, error) {
	lease, err := l.client.Mutex(key, l.options...).TryLock(ctx)
	if err != nil {
		return nil, err
	}
	return lock{lease}, nil
}

type lock struct{ lease *holdfast.Lease }

// Unlock gives the lock back. Its error tells when the run was not exclusive to its end.
func (l lock) Unlock(ctx context.Context) error { return l.lease.Release(ctx) }
