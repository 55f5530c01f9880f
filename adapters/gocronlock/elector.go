package gocronlock

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/go-co-op/gocron/v2"

	"github.com/holdfast-go/holdfast"
)

// An Elector lets one scheduler lead. It implements [gocron.Elector].
type Elector struct {
	name   string
	lease  atomic.Pointer[holdfast.Lease] // the last that we got
	failed atomic.Pointer[error]          // why campaigning failed last; nil once it has not
	resign context.CancelFunc
	done   chan struct{}
	err    error // why it campaigns no more; set before done is closed
}

// NewElector returns an elector that campaigns in the background until Close. value is what others see of the leader:
// see [holdfast.Election.Leader].
func NewElector(client *holdfast.Client, name, value string, opts ...holdfast.Option) *Elector {
	ctx, cancel := context.WithCancel(context.Background())
	e := &Elector{name: name, resign: cancel, done: make(chan struct{})}
	go func() { // ends with Close, or when campaigning fails for good
		defer close(e.done)
		e.err = e.campaign(ctx, client.Election(name, opts...), value)
	}()
	return e
}

// pause is how long to wait before campaigning again where the backend does not answer the first time, which
// [holdfast.Election.Run] outlasts by itself later, and where the claim that waits is removed, as a backend that has
// lost its data may do, too. A backend that refuses at first ends it: asking again would not help.
const pause = time.Second

func (e *Elector) campaign(ctx context.Context, election *holdfast.Election, value string) error {
	for {
		err := election.Run(ctx, value, e.lead)
		e.failed.Store(&err)
		if !mayPass(err) {
			return err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return err
		}
	}
}

// mayPass reports whether campaigning again helps against an error.
func mayPass(err error) bool {
	return errors.Is(err, holdfast.ErrUnknown) || errors.Is(err, holdfast.ErrUnavailable) ||
		errors.Is(err, holdfast.ErrBroken)
}

// lead holds the lead until it ends.
func (e *Elector) lead(ctx context.Context, lease *holdfast.Lease) error {
	e.failed.Store(nil)
	e.lease.Store(lease)
	<-ctx.Done()
	return context.Cause(ctx)
}

// IsLeader returns nil while this elector leads. It looks at the lease itself, so it is right even after a pause.
func (e *Elector) IsLeader(context.Context) error {
	if lease := e.lease.Load(); lease != nil && lease.Err() == nil {
		return nil
	}
	select {
	case <-e.done:
		return fmt.Errorf("election %q: no longer a candidate: %w", e.name, e.err)
	default:
		if err := e.failed.Load(); err != nil {
			return fmt.Errorf("election %q: not a candidate yet: %w", e.name, *err)
		}
		return fmt.Errorf("election %q: another one leads, or nobody does yet", e.name)
	}
}

// Task makes a task of a function that gets the lease of the lead. Its context ends with the job's or with the lead,
// and carries the lease. If this elector no longer leads, the job fails and fn is not called. If the lead ends before
// fn returns, the job fails with an error that matches [holdfast.ErrLost], or [holdfast.ErrReleased] if it was given
// up.
func (e *Elector) Task(fn func(context.Context, *holdfast.Lease) error) gocron.Task {
	return gocron.NewTask(func(ctx context.Context) error {
		if err := e.IsLeader(ctx); err != nil {
			return err
		}
		return under(ctx, e.lease.Load(), fn)
	})
}

// under calls fn in a context that ends with ctx or the lease, and reports if the lease has ended meanwhile.
func under(ctx context.Context, lease *holdfast.Lease, fn func(context.Context, *holdfast.Lease) error) error {
	inside, cancel := context.WithCancelCause(lease.Context())
	defer cancel(nil)
	defer context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })()
	err := fn(inside, lease)
	if end := lease.Err(); end != nil && !errors.Is(err, end) {
		err = errors.Join(err, end)
	}
	return err
}

// Close resigns, and returns when the lead is released.
func (e *Elector) Close() {
	e.resign()
	<-e.done
}
