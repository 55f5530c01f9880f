package holdfast

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"
)

// An Observer is told what happens to locks, for metrics and traces. Each acquisition that succeeds has one end, an
// OpRelease or an OpLose, so a count of what is held never drifts.
//
// A goroutine that acquires or releases a lock calls Observe itself, with the context of that call, and goes on when
// Observe returns. What happens without a call, that is losses and the releases of Close, is reported by one goroutine
// of the client, with a context without values. No lock waits for that goroutine. Up to 4096 such events wait for a
// slow observer; further ones are dropped, and [Event.Missed] counts them. A panic of Observe goes up to the caller
// that acquires or releases; in the goroutine of the client it is logged. Observe is called by several goroutines at
// once, and must not use the lock.
type Observer interface {
	Observe(ctx context.Context, e Event)
}

// An Event is something that happened to a lock.
type Event struct {
	Op      Op     // what happened
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

// Outcome is the result in one word, for labels: of OpAcquire "acquired", "not_acquired", "unknown" or "error"; of
// OpRelease "released", "unknown", "expired", "gone" or "error"; of OpLose "expired", "gone" or "max_hold".
func (e Event) Outcome() string {
	lost, isLost := errors.AsType[*LostError](e.Err)
	switch {
	case e.Err == nil && e.Op == OpAcquire:
		return "acquired"
	case e.Err == nil:
		return "released"
	case isLost:
		return lost.Reason.label()
	case errors.Is(e.Err, ErrNotAcquired):
		return "not_acquired"
	case errors.Is(e.Err, ErrUnknown):
		return "unknown"
	default:
		return "error"
	}
}

func (r LostReason) label() string {
	switch r {
	case LostExpired:
		return "expired"
	case LostGone:
		return "gone"
	case LostMaxHold:
		return "max_hold"
	default:
		return "error"
	}
}

// A Scoper is an Observer that gives the work under a lock a context of its own, as a tracer does whose spans nest.
//
// Enter is called when a lock has been acquired, before Observe, with the same event. inside must be derived from ctx.
// It takes the place of ctx in the context that Do gives to the work, and in [Lease.Context]. leave may be nil. It is
// called once, after Observe, with the event that ends the lease; like a call of Observe it may be dropped if the
// observer is too slow. An acquisition that is counted within another one (see [WithReentrant]) stays within the scope
// of that one.
type Scoper interface {
	Observer
	Enter(ctx context.Context, acquired Event) (inside context.Context, leave func(ended Event))
}

// Observers returns an observer that passes each event on to each of these, in their order; nil ones are left out. The
// scopes of those that are Scopers nest, with the first outermost.
func Observers(each ...Observer) Observer {
	return observers(slices.DeleteFunc(slices.Clone(each), func(o Observer) bool { return o == nil }))
}

type observers []Observer

func (os observers) Observe(ctx context.Context, e Event) {
	for _, o := range os {
		o.Observe(ctx, e)
	}
}

func (os observers) Enter(ctx context.Context, acquired Event) (context.Context, func(Event)) {
	var leaves []func(Event)
	for _, o := range os {
		if s, ok := o.(Scoper); ok {
			var leave func(Event)
			if ctx, leave = s.Enter(ctx, acquired); leave != nil {
				leaves = append(leaves, leave)
			}
		}
	}
	return ctx, func(ended Event) {
		for _, leave := range slices.Backward(leaves) {
			leave(ended)
		}
	}
}

// observe tells the observer, if there is one, of something that began at start.
func (l *lock) observe(ctx context.Context, op Op, a ask, token uint64, start time.Time, err error) {
	if o := l.settings.observer; o != nil {
		o.Observe(ctx, l.event(op, a, token, start, err))
	}
}

// enter begins the scope of a lease for an observer that wants one.
func (l *lock) enter(ctx context.Context, g *grant, start time.Time) (inside context.Context, leave func(Event)) {
	if s, ok := l.settings.observer.(Scoper); ok {
		return s.Enter(ctx, l.event(OpAcquire, g.ask, g.token, start, nil))
	}
	return ctx, nil
}

func (l *lock) event(op Op, a ask, token uint64, start time.Time, err error) Event {
	return Event{
		Op: op, Name: l.name, Kind: a.kind, Backend: l.client.traits.Backend,
		Token: token, Start: start, Took: time.Since(start), Err: err,
	}
}

// events carry what happens to locks by itself to the observer and the logger, one after the other in a goroutine
// that is there while there is something to tell. The handlers of others may take any time: nothing waits for them.
// Nor does their panic end anything.
type events struct {
	mu     sync.Mutex
	queue  []event
	missed int  // dropped since the last one that was queued
	busy   bool // the goroutine is there
}

// An event is what to call, with how many were dropped just before it, and what to do when that panics.
type event struct {
	tell   func(missed int)
	missed int
	failed func(*crash)
}

// mostEvents bounds how many wait for a handler that is slow.
const mostEvents = 4096

func (es *events) add(tell func(missed int), failed func(*crash)) {
	es.mu.Lock()
	defer es.mu.Unlock()
	if len(es.queue) == mostEvents {
		es.missed++
		return
	}
	es.queue = append(es.queue, event{tell, es.missed, failed})
	es.missed = 0
	if !es.busy {
		es.busy = true
		go es.deliver()
	}
}

func (es *events) deliver() {
	for e, ok := es.next(); ok; e, ok = es.next() {
		if caught := catch(func() { e.tell(e.missed) }); caught != nil {
			e.failed(caught)
		}
	}
}

func (es *events) next() (e event, ok bool) {
	es.mu.Lock()
	defer es.mu.Unlock()
	if len(es.queue) == 0 {
		es.busy, es.queue = false, nil
		return e, false
	}
	e, es.queue = es.queue[0], es.queue[1:]
	return e, true
}

// warn has the logger told, with the time of now.
func (c *Client) warn(logger *slog.Logger, message string, attrs ...any) {
	if logger == silent {
		return
	}
	r := slog.NewRecord(time.Now(), slog.LevelWarn, message, 0)
	r.Add(attrs...)
	c.events.add(func(missed int) {
		if missed > 0 {
			r.Add("missed", missed)
		}
		if ctx := context.Background(); logger.Enabled(ctx, r.Level) {
			logger.Handler().Handle(ctx, r) // whose errors concern the handler alone
		}
	}, cry)
}
