package holdfast

import (
	"context"
	"errors"
	"iter"
	"reflect"
	"slices"

	"github.com/holdfast-go/holdfast/driver"
)

// An Election is a mutex that can be watched. Its holder leads, and each candidate publishes a value.
type Election struct{ lock }

// Election describes the election with this name.
func (c *Client) Election(name string, opts ...Option) *Election {
	return &Election{c.lock(name, opts)}
}

var candidate = ask{kind: "election", mode: exclusive, weight: 1, limit: 1}

// Campaign waits until it leads, as [Mutex.Lock] waits for a lock. Others see value, for example the address of the
// leader. To resign, release the lease.
func (e *Election) Campaign(ctx context.Context, value string) (*Lease, error) {
	return e.campaign(ctx, value, true)
}

// TryCampaign leads if that needs no wait, as [Mutex.TryLock] takes a lock; otherwise the error matches ErrNotAcquired.
func (e *Election) TryCampaign(ctx context.Context, value string) (*Lease, error) {
	return e.campaign(ctx, value, false)
}

func (e *Election) campaign(ctx context.Context, value string, wait bool) (*Lease, error) {
	l := e.lock
	l.settings.value = value
	l.settings.handoff = 0 // candidates of one process stand for different things
	return l.acquire(ctx, candidate, wait)
}

// Run campaigns and calls lead while it leads. When the lead is lost, it waits until lead has returned and campaigns
// again. Once it has led, or its claim was queued, it stays a candidate even if the backend does not answer or refuses,
// or somebody breaks its claim. The context of lead ends with ctx or with the lease.
//
// Run returns when ctx ends, when the backend cannot be reached at first, and when lead returns for another reason than
// the loss. That is nil while it leads, or an error of its own: one that matches neither [context.Canceled] nor
// ErrLost, and does not come from a resource that refused a stale fencing token. If the lead was lost as well, the
// error of Run matches both that error and ErrLost.
func (e *Election) Run(ctx context.Context, value string, lead func(ctx context.Context, l *Lease) error) error {
	for campaign := e.Campaign; ; campaign = e.campaignAgain {
		lease, err := campaign(ctx, value)
		if (errors.Is(err, ErrOutOfLine) || errors.Is(err, ErrBroken)) && ctx.Err() == nil {
			continue
		}
		if err != nil {
			return err
		}
		own, end := e.lead(ctx, lease, lead)
		if !errors.Is(end, ErrLost) || ctx.Err() != nil || isOwn(own) {
			return errors.Join(own, end)
		}
	}
}

// campaignAgain is Campaign for who has been a candidate before.
func (e *Election) campaignAgain(ctx context.Context, value string) (*Lease, error) {
	for pace := newPace(); ; {
		lease, err := e.Campaign(ctx, value)
		if !isSilence(err) && !errors.Is(err, driver.ErrRefused) || pace.Pause(ctx) != nil {
			return lease, err
		}
		e.client.warn(e.settings.logger, "holdfast: campaigning again failed",
			"lock", e.name, "backend", e.client.label, "error", err)
	}
}

// lead calls fn under a lease, which it releases however fn ends. It returns what fn did, and how the lease ended.
func (e *Election) lead(ctx context.Context, lease *Lease, fn func(context.Context, *Lease) error) (own, end error) {
	defer func() { end = lease.conclude(ctx) }()
	inside, cancel := lease.within()
	defer cancel()
	return fn(inside, lease), nil
}

// isOwn reports whether an error of lead says more than that the lead was lost. Each part of joined errors counts. A
// resource that has seen a greater token says by the method LockLost that the lead was lost, as fence.ErrStale does.
func isOwn(err error) bool {
	if reflect.TypeOf(err) == joinType {
		return slices.ContainsFunc(err.(interface{ Unwrap() []error }).Unwrap(), isOwn)
	}
	var stale interface{ LockLost() bool }
	return err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, ErrLost) &&
		!(errors.As(err, &stale) && stale.LockLost())
}

var joinType = reflect.TypeOf(errors.Join(ErrLost))

// Leader returns the claim of the leader, with its Value, Owner and Token. The error matches ErrNoLeader if nobody
// leads.
func (e *Election) Leader(ctx context.Context) (Entry, error) {
	queue, err := e.client.Queue(ctx, e.name)
	return e.leader(queue, err)
}

// leader is who leads according to a look at the queue.
func (e *Election) leader(queue []Entry, err error) (Entry, error) {
	switch {
	case err != nil:
		return Entry{}, err
	case len(queue) == 0 || !queue[0].Granted:
		return Entry{}, e.failure("leader of", ErrNoLeader)
	default:
		return queue[0], nil
	}
}

// Observe yields the claim of the leader, now and after each change, until ctx ends or the client is closed. While
// nobody leads, it yields ErrNoLeader. If leaders follow each other quickly, it may skip some, but never the last one.
//
// Another error says that the leader is not known at the moment, for example during an outage. Observe keeps looking,
// at least every few seconds, and yields the error of each look that fails, and then the leader, even if it is the same
// as before. Break out of the loop to give up. Only an error that matches [errors.ErrUnsupported], ErrInvalidName or
// ErrClosed ends the sequence.
func (e *Election) Observe(ctx context.Context) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		var last string
		known := false
		for queue, err := range e.follow(ctx) {
			leader, err := e.leader(queue, err)
			was := known
			known = err == nil || errors.Is(err, ErrNoLeader)
			if was && known && leader.ID == last {
				continue
			}
			last = leader.ID
			if !yield(leader, err) {
				return
			}
		}
	}
}
