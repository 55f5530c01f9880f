package batch

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// A Sender sends operations to a driver. All methods are safe for concurrent use. It has nothing to close: it has
// goroutines only while operations are under way.
type Sender struct {
	driver  driver.Driver
	traits  driver.Traits
	direct  bool           // each operation of Do goes alone at once if its claim is free, and no lane counts it
	sharder driver.Sharder // nil where all locks are served by one part of the engine
	now     func() time.Duration
	stray   func(*Panic)
	claims  claims

	mu     sync.Mutex
	lanes  [classes][magnitudes]*lane // of an engine without shards, and of operations that need no lock
	shards map[laneKey]*lane
	unused sync.Pool // calls of Do that have ended

	// For unlock, from what has happened since the lock was taken.
	told   []*call // calls of Go that have ended
	astray *Panic  // of which no caller learns
}

// Options change how a [Sender] works. The zero value is right for tests.
type Options struct {
	// Now reads the clock by which Answer.Sent is told, and how old attempts are. It never goes back. Whoever
	// judges leases by Answer.Sent passes the clock by which it judges them. Nil: Go's monotonic clock.
	Now func() time.Duration

	// Stray is called with a panic of the driver of which no caller can be told, because all have given up.
	// Nil: the panic ends the program, as any does that nobody recovers.
	Stray func(*Panic)
}

// New makes a Sender for a driver. o may be nil.
func New(d driver.Driver, o *Options) *Sender {
	if o == nil {
		o = &Options{}
	}
	s := &Sender{driver: d, traits: d.Traits(), now: o.Now, stray: o.Stray, claims: newClaims()}
	s.direct = s.traits.Alone == 0 && s.traits.MaxInFlight == 0
	s.sharder, _ = driver.As[driver.Sharder](d)
	if s.now == nil {
		start := time.Now()
		s.now = func() time.Duration { return time.Since(start) }
	}
	if s.stray == nil {
		s.stray = func(p *Panic) { panic(p) }
	}
	return s
}

// An Answer is what came of an operation.
type Answer struct {
	driver.Result
	Sent time.Duration // when the attempt began that was answered, by Options.Now: leases are counted from then
}

// Do sends one operation, and waits for its answer until ctx ends or limit has passed. A limit of zero is none.
// Once the operation may have been sent, and ctx or limit has ended, the error is that of ctx, or
// context.DeadlineExceeded.
func (s *Sender) Do(ctx context.Context, op driver.Op, limit time.Duration) Answer {
	return s.DoAt(ctx, op, limit, s.now())
}

// DoAt is Do for a caller that has just read the clock of Options.Now, which showed began.
func (s *Sender) DoAt(ctx context.Context, op driver.Op, limit, began time.Duration) Answer {
	if err := ctx.Err(); err != nil {
		return unsent(err)
	}
	if s.direct {
		if one := s.beginAlone(ctx, &op, limit, began); one != nil {
			return s.alone(one)
		}
	}
	key := s.laneKey(&op, limit)
	s.mu.Lock()
	l := s.lane(key)
	if s.goesAlone(l) || s.leads(l) && s.letGather(l) {
		if one := s.beginAlone(ctx, &op, limit, began); one != nil {
			s.count(one, l)
			s.mu.Unlock()
			return s.alone(one)
		}
	}
	c := s.newCall(ctx, &op, l, limit, began)
	s.admit(c)
	s.mu.Unlock()
	return s.await(c)
}

// Go sends operations, and calls tell once for each, with its place among them, as soon as its answer is known.
// It does not wait, and has no goroutine for each. Once ctx or limit has ended, what has no answer is given up
// as in Do.
//
// tell is quick and does not block. It is called from any goroutine, also before Go has returned. It may call
// Go. If the driver panics, and no caller of Do can be told, the error of one of the operations is a [*Panic].
func (s *Sender) Go(ctx context.Context, ops []driver.Op, limit time.Duration, tell func(i int, a Answer)) *Group {
	if len(ops) == 0 {
		return nil
	}
	began, keys := s.now(), make([]laneKey, len(ops))
	for i := range ops {
		keys[i] = s.laneKey(&ops[i], limit)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.newGroup(ctx, limit)
	for i, op := range ops {
		c := &call{tell: func(a Answer) { tell(i, a) }}
		c.begin(ctx, &op, s.lane(keys[i]), limit, began)
		g.add(c)
	}
	for _, c := range g.calls {
		s.admit(c)
	}
	return g
}

// unsent is the answer to an operation that was given up before it was sent.
func unsent(err error) Answer {
	return Answer{Result: driver.Result{Err: fmt.Errorf("%w: %w", driver.ErrUnsent, err)}}
}

// errNoResult is the error for an operation about which a driver said nothing.
var errNoResult = errors.New("the driver returned without a result of the operation")
