// Package gocronlock lets several gocron schedulers share their jobs: each run is made by one of them.
//
//	locker := gocronlock.NewLocker(client, 30*time.Second)
//	scheduler, err := gocron.NewScheduler()
//	job, err := locker.NewJob(scheduler, "report", gocron.DurationJob(time.Hour), report)
//
// With a [Locker] each run of a job goes to whichever scheduler is first. With an [Elector] one scheduler runs all
// jobs, and another takes over if it dies. Both have a method Task, for jobs that need to know their lock: they get a
// context that ends if the lock is lost, and the lease with its fencing token. gocron itself tells a job nothing about
// its lock.
//
// The name of a job is that of its lock, so each job needs a name of its own, the same in all programs that share it.
// [Locker.NewJob] asks for it. gocron.Scheduler.NewJob does not: give it [gocron.WithName]. A job without a name has
// that of its function, which other jobs may have, too, and another build may not. A Locker refuses to run such a job,
// and logs that with slog: gocron tells it to [gocron.AfterLockError] alone.
package gocronlock

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/go-co-op/gocron/v2"

	"github.com/holdfast-go/holdfast"
)

// A Locker locks each run of a job under the job's name. It implements [gocron.Locker].
type Locker struct {
	client  *holdfast.Client
	prefix  string
	options []holdfast.Option
	taken   *taken
	names   *names
}

// NewLocker returns a locker. The lock of a run stays taken for splay from its start, even if the job ends before. So a
// scheduler whose clock is late does not run a short job once more. splay should be longer than the clocks differ, and
// shorter than the time between two runs. Where it is zero, a WithMinHold among the options of the lock or the client
// counts.
func NewLocker(client *holdfast.Client, splay time.Duration, opts ...holdfast.Option) *Locker {
	options := slices.Clone(opts)
	if splay != 0 {
		options = append(options, holdfast.WithMinHold(splay))
	}
	return &Locker{
		client: client, options: options,
		taken: &taken{leases: make(map[context.Context][]*holdfast.Lease)},
		names: &names{jobs: make(map[string]context.Context), told: make(map[string]bool)},
	}
}

// WithPrefix returns a locker that puts prefix in front of the names of its locks. Programs that share a backend and no
// jobs should use different prefixes.
func (l *Locker) WithPrefix(prefix string) *Locker {
	other := *l
	other.prefix = prefix
	return &other
}

// Lock takes the lock of a run, or fails at once because another scheduler has it; the error then matches
// [holdfast.ErrNotAcquired]. A key that gocron has made of a function, and that other jobs may have, is refused.
func (l *Locker) Lock(ctx context.Context, key string) (gocron.Lock, error) {
	if err := l.names.check(ctx, key, l.prefix+key); err != nil {
		return nil, err
	}
	lease, err := l.client.Mutex(l.prefix+key, l.options...).TryLock(ctx)
	if err != nil {
		return nil, err
	}
	l.taken.add(ctx, lease)
	return &lock{lease, ctx, l.taken}, nil
}

type lock struct {
	lease *holdfast.Lease
	job   context.Context
	taken *taken
}

// Unlock gives the lock back. Its error tells when the run was not exclusive to its end.
func (l *lock) Unlock(ctx context.Context) error {
	l.taken.remove(l.job, l.lease)
	return l.lease.Release(ctx)
}

// NewJob makes a job of a function that gets the lease of its run, as [Locker.Task] does. The lock of its runs is this
// locker's, whatever the scheduler uses otherwise, and has this name, with the locker's prefix. Other jobs, of this
// scheduler or another program, must have other names; the same job of another scheduler must have the same.
func (l *Locker) NewJob(s gocron.Scheduler, name string, when gocron.JobDefinition,
	fn func(context.Context, *holdfast.Lease) error, opts ...gocron.JobOption) (gocron.Job, error) {
	own := []gocron.JobOption{gocron.WithName(name), gocron.WithDistributedJobLocker(l)}
	return s.NewJob(when, l.Task(fn), append(slices.Clone(opts), own...)...)
}

// Task makes a task of a function that gets the lease of its run. Its job needs a name: see [gocron.WithName]. The
// function's context ends with the job's or with the lease, and carries the lease. If the lock is lost before fn
// returns, the job fails with an error that matches [holdfast.ErrLost], and if the client is closed before, with one
// that matches [holdfast.ErrClosed]. The job must use this locker, or one made from it by WithPrefix.
func (l *Locker) Task(fn func(context.Context, *holdfast.Lease) error) gocron.Task {
	return gocron.NewTask(func(ctx context.Context) error {
		lease := l.taken.take(ctx)
		if lease == nil {
			return errNoLease
		}
		return holdfast.Leases{lease}.Do(ctx, func(ctx context.Context, _ holdfast.Leases) error {
			return fn(ctx, lease)
		})
	})
}

var errNoLease = errors.New("gocronlock: the job runs without its lock; " +
	"create its scheduler with gocron.WithDistributedLocker and the Locker that made the Task")

// taken has the leases that runs have not asked for yet, by the context of their job: all that gocron gives to the
// locker and to the run alike. Each goes to one run. Several are there when a lock was lost before its run began.
type taken struct {
	mu     sync.Mutex
	leases map[context.Context][]*holdfast.Lease
}

func (t *taken) add(job context.Context, l *holdfast.Lease) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.leases[job] = append(t.leases[job], l)
}

// take returns the oldest, or nil.
func (t *taken) take(job context.Context) *holdfast.Lease {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.leases[job]) == 0 {
		return nil
	}
	l := t.leases[job][0]
	t.drop(job, l)
	return l
}

func (t *taken) remove(job context.Context, l *holdfast.Lease) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.drop(job, l)
}

func (t *taken) drop(job context.Context, l *holdfast.Lease) {
	rest := slices.DeleteFunc(t.leases[job], func(other *holdfast.Lease) bool { return other == l })
	if len(rest) == 0 {
		delete(t.leases, job)
		return
	}
	t.leases[job] = rest
}
