package holdfast

import (
	"context"
	"time"
)

// An Observer is told what happens to locks, for metrics and traces. Observe is called by the goroutine to which it
// happens, so it must be quick and must not use the lock. ctx is the one given to the call observed.
type Observer interface {
	Observe(ctx context.Context, e Event)
}

// An Event is something that happened to a lock.
type Event struct {
	Op      Op
	Name    string // of the lock; there may be many, so think before it becomes a label
	Kind    string // "mutex", "read", "write" or "semaphore"
	Backend string // "redis", "file" and so on
	Token   uint64 // of the lease; zero when there is none
	Start   time.Time
	Took    time.Duration // Acquire: the wait; Release and Lose: the hold
	Err     error         // why it failed, or was lost
}

// An Op is a kind of event.
type Op string

// What is observed.
const (
	OpAcquire Op = "acquire" // an acquisition ended, well or not
	OpRelease Op = "release" // a lease was released
	OpLose    Op = "lose"    // a lease was lost
)

// observe tells the observer, if there is one, of something that began at start.
func (l *lock) observe(ctx context.Context, op Op, a ask, token uint64, start time.Time, err error) {
	if o := l.settings.observer; o != nil {
		o.Observe(ctx, Event{
			Op: op, Name: l.name, Kind: a.kind, Backend: l.client.traits.Backend,
			Token: token, Start: start, Took: time.Since(start), Err: err,
		})
	}
}
