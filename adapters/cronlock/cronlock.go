// Package cronlock runs jobs of robfig/cron, or of anything else that calls a method Run at given times, on one of
// several machines.
//
//	c := cron.New()
//	c.AddJob("@hourly", &cronlock.Job{Client: client, Name: "report", Splay: 30 * time.Second, Do: report})
package cronlock

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast"
)

// A Job runs under a lock, on whichever machine has it first. It implements the Job of github.com/robfig/cron, and is
// safe for concurrent use. Client, Name and Do are needed.
type Job struct {
	Client *holdfast.Client // where the lock is
	Name   string           // of the lock

	// Splay is how long the lock stays taken from the start of a run, even if the run ends before. So a machine whose
	// clock is late does not run a short job once more. It should be longer than the clocks differ, and shorter than
	// the time between two runs. Where it is zero, a WithMinHold among the options of the lock or the client counts.
	Splay time.Duration

	// Do is the work. Its context carries the lease, and ends if the lock is lost.
	Do func(ctx context.Context, l *holdfast.Lease) error

	// Failed is called with errors: that of Do; that of a backend that did not answer; ErrLost, if the lock was lost
	// before Do returned. It is no error that another machine runs the job. If Failed is nil, errors are logged with
	// slog.
	Failed func(error)

	Options []holdfast.Option // of the lock
}

// Run runs the job once, unless another machine runs it.
func (j *Job) Run() { j.RunContext(context.Background()) }

// RunContext is Run, but the context of the work ends with ctx, too.
func (j *Job) RunContext(ctx context.Context) {
	switch err := j.run(ctx); {
	case err == nil:
	case j.Failed != nil:
		j.Failed(err)
	default:
		slog.ErrorContext(ctx, "cronlock: a job failed", "lock", j.Name, "error", err)
	}
}

func (j *Job) run(ctx context.Context) error {
	if j.Client == nil || j.Do == nil || j.Name == "" {
		return errors.New("cronlock: a Job needs a Client, a Name and a function Do")
	}
	options := slices.Clone(j.Options)
	if j.Splay != 0 {
		options = append(options, holdfast.WithMinHold(j.Splay))
	}
	lease, err := j.Client.Mutex(j.Name, options...).TryLock(ctx)
	switch {
	case errors.Is(err, holdfast.ErrNotAcquired) && ctx.Err() == nil:
		return nil
	case err != nil:
		return err
	}
	return holdfast.Leases{lease}.Do(ctx, func(ctx context.Context,
		_ holdfast.Leases) error {
		return j.Do(ctx, lease)
	})
}
