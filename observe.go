package holdfast

import (
	"context"
	"time"
)

// An Observer is told what happens to locks, for metrics and traces. Each acquisition that succeeds has one end, an
// OpRelease or an OpLose, so a count of what is held never drifts.
//
// Who acquires or releases a lock calls Observe, with the context given to that call, and goes on when it returns. What
// happens to a lease by itself, that is losses and what Close gives back, comes from one goroutine of the client, which
// no lock waits for, with a context of no values. Up to 4096 such events wait for an observer that is slow; more are
// dropped, and [Event.Missed] tells. Observe is called by several goroutines at once, and must not use the lock.
type Observer interface {
	Observe(ctx context.Context, e Event)
}

// An Event is something that happened to a lock.
type Event struct {
	Op      Op
	Name    string // of the lock; there may be many, so think before it becomes a label
	Kind    string // "mutex", "read", "write", "semaphore" or "election"
	Backend string // "redis", "file" and so on
	Token   uint64 // of the lease; zero when there is none
	Start   time.Time
	Took    time.Duration // Acquire: the wait; Release and Lose: the hold
	Err     error         // why it failed, or was lost
	Missed  int           // so many events just before this one were dropped, as the observer was slow
}

// An Op is a kind of event.
type Op string

// What is observed.
const (
	OpAcquire Op = "acquire" // an acquisition ended, well or not; Resume is one, too
	OpRelease Op = "release" // a lease was released or detached, or ended with its client
	OpLose    Op = "lose"    // a lease was lost
)

// observe tells the observer, if there is one, of something that began at start.
func (l *lock) observe(ctx context.Context, op Op, a ask, token uint64, start time.Time, err error) {
	if o := l.settings.observer; o != nil {
		o.Observe(ctx, l.event(op, a, token, start, err))
	}
}

func (l *lock) event(op Op, a ask, token uint64, start time.Time, err error) Event {
	return Event{
		Op: op, Name: l.name, Kind: a.kind, Backend: l.client.traits.Backend,
		Token: token, Start: start, Took: time.Since(start), Err: err,
	}
}
