package holdfast

import (
	"context"
	"errors"
	"iter"

	"github.com/holdfast-go/holdfast/driver"
)

// An Election is a mutex that one can watch: whoever holds it leads, and each candidate says what it stands for.
type Election struct{ lock }

// Election describes the election with this name.
func (c *Client) Election(name string, opts ...Option) *Election {
	return &Election{c.lock(name, opts)}
}

var candidate = ask{kind: "election", mode: exclusive, weight: 1, limit: 1}

// Campaign waits until it leads, as [Mutex.Lock] waits for a lock. value, such as the address at which the leader is
// reached, is what others see. To resign, release the lease.
func (e *Election) Campaign(ctx context.Context, value string) (*Lease, error) {
	l := e.lock
	l.settings.value = value
	l.settings.handoff = 0 // candidates of one process stand for different things
	return l.acquire(ctx, candidate, true)
}

// Run campaigns and calls lead while it leads; when the lead is lost, it waits until lead has returned and campaigns
// again. Who has led, or stood in line, stays a candidate though the backend does not answer, or refuses. Run returns when
// ctx ends or when lead returns for another reason, with what lead returned, and when the backend is not there at first.
// The context that lead gets ends with ctx or with the lease.
func (e *Election) Run(ctx context.Context, value string, lead func(ctx context.Context, l *Lease) error) error {
	for campaign := e.Campaign; ; campaign = e.campaignAgain {
		lease, err := campaign(ctx, value)
		if errors.Is(err, errOutOfLine) && ctx.Err() == nil {
			continue
		}
		if err != nil {
			return err
		}
		err = e.lead(ctx, lease, lead)
		if !errors.Is(lease.Release(ctx), ErrLost) || ctx.Err() != nil {
			return err
		}
	}
}

// campaignAgain is Campaign for who has been a candidate before.
func (e *Election) campaignAgain(ctx context.Context, value string) (*Lease, error) {
	for pace := (pace{}); ; {
		lease, err := e.Campaign(ctx, value)
		if !errors.Is(err, ErrUnknown) && !errors.Is(err, driver.ErrRefused) || pace.pause(ctx) != nil {
			return lease, err
		}
		e.settings.logger.Warn("holdfast: campaigning again failed", "lock", e.name, "backend", e.client.label, "error", err)
	}
}

// lead calls fn under a lease, however fn ends.
func (e *Election) lead(ctx context.Context, lease *Lease, fn func(context.Context, *Lease) error) (err error) {
	defer func() { err = errors.Join(err, lease.conclude(ctx)) }()
	inside, cancel := lease.within(ctx)
	defer cancel()
	return fn(inside, lease)
}

// Leader returns the claim of who leads: its Value, Owner and Token. The error matches ErrNoLeader when nobody does.
func (e *Election) Leader(ctx context.Context) (Entry, error) {
	queue, err := e.client.Queue(ctx, e.name)
	switch {
	case err != nil:
		return Entry{}, err
	case len(queue) == 0 || !queue[0].Granted:
		return Entry{}, e.failure("leader of", ErrNoLeader)
	default:
		return queue[0], nil
	}
}

// Observe yields who leads, now and after each change, until ctx ends; ErrNoLeader while nobody does. After another
// error it yields no more. Leaders that follow each other quickly may be left out, the last one never is.
func (e *Election) Observe(ctx context.Context) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		last := "nobody has been seen"
		for ctx.Err() == nil {
			changed := e.changed(ctx)
			leader, err := e.Leader(ctx)
			switch {
			case ctx.Err() != nil:
				return
			case err != nil && !errors.Is(err, ErrNoLeader):
				yield(Entry{}, err)
				return
			case leader.ID != last:
				last = leader.ID
				if !yield(leader, err) {
					return
				}
			}
			<-changed
		}
	}
}

// changed returns a channel that is closed when the queue may have changed since, or it is time to look anyway.
func (e *Election) changed(ctx context.Context) <-chan struct{} {
	done := make(chan struct{})
	ctx, cancel := context.WithTimeout(ctx, e.settings.ttl/renewAfter)
	go func() { // ends with the context at the latest
		defer close(done)
		defer cancel()
		if driver.Watch(ctx, e.client.driver, e.name) != nil {
			<-ctx.Done()
		}
	}()
	return done
}
