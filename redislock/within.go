package redislock

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"
)

// Calls end with their contexts, though rueidis sees to that only while a call waits for an answer on a connection that
// others use as well. It looks at no context while it connects, be it for this call or for another one. And a call that
// has a connection for itself, as all have while there is one at a time, heeds the deadline of its context and nothing
// else.
//
// A goroutine for each call would do, and costs as much as the call. So a call that is likely to be quick is made in
// place, and where it outlasts its context, what it waits for is broken off.

// within asks, and returns when ctx ends.
func within[T any](ctx context.Context, f *flows, ask func() T) (reply T, err error) {
	switch {
	case ctx.Done() == nil:
		return ask(), nil
	case f == nil || f.isConnecting():
		return apart(ctx, ask)
	}
	a := f.begin(ctx)
	defer func() { // also when the client panics: nobody may look at the attempt for ever
		if f.end(a) {
			err = ctx.Err()
		}
	}()
	return ask(), nil
}

// apart asks in a goroutine, which goes on when ctx ends, until rueidis returns.
func apart[T any](ctx context.Context, ask func() T) (reply T, err error) {
	asked := make(chan T, 1)
	go func() { asked <- ask() }()
	select {
	case reply = <-asked:
		return reply, nil
	case <-ctx.Done():
		return reply, ctx.Err()
	}
}

// attempts are the calls of a client that are made in place. Nothing is allocated for one, and no timer is set: while
// there are some, all of them are looked at now and then.
type attempts struct {
	mu      sync.Mutex
	all     []*attempt
	alarm   *time.Timer // looks at them; nil: there was none yet
	looking bool        // it is set
}

// An attempt is a call that is made in place.
type attempt struct {
	ctx   context.Context
	began time.Duration // since started
	at    int           // in attempts
	ended bool          // ctx had, when it was looked at last
	freed bool          // what it waited for was broken off
}

var unusedAttempts = sync.Pool{New: func() any { return new(attempt) }}

// overdue is by how much a call has outlasted its context that does not heed it: the others have returned by then.
const overdue = 10 * time.Millisecond

// begin begins an attempt, whose context can end.
func (f *flows) begin(ctx context.Context) *attempt {
	a := unusedAttempts.Get().(*attempt)
	s := &f.attempts
	s.mu.Lock()
	defer s.mu.Unlock()
	*a = attempt{ctx: ctx, began: time.Since(started), at: len(s.all)}
	s.all = append(s.all, a)
	if !s.looking {
		s.looking = true
		if s.alarm == nil {
			s.alarm = time.AfterFunc(overdue, f.freeOverdue)
		} else {
			s.alarm.Reset(overdue)
		}
	}
	return a
}

// end ends an attempt, and reports whether what it waited for was broken off.
func (f *flows) end(a *attempt) (freed bool) {
	s := &f.attempts
	s.mu.Lock()
	defer s.mu.Unlock()
	last := s.all[len(s.all)-1]
	s.all[a.at], last.at = last, a.at
	s.all[len(s.all)-1] = nil
	s.all = s.all[:len(s.all)-1]
	freed = a.freed
	*a = attempt{}
	unusedAttempts.Put(a)
	return freed
}

// freeOverdue breaks off what attempts wait for whose contexts had ended already when they were looked at last.
func (f *flows) freeOverdue() {
	var stuck []time.Duration // when they began
	s := &f.attempts
	s.mu.Lock()
	for _, a := range s.all {
		if a.ended {
			a.freed = true
			stuck = append(stuck, a.began)
		}
		a.ended = a.ctx.Err() != nil
	}
	if s.looking = len(s.all) > 0; s.looking {
		s.alarm.Reset(overdue)
	}
	s.mu.Unlock()
	for _, began := range stuck {
		f.breakOff(began)
	}
}

// errBrokenOff is what others are told who waited for the same connection.
var errBrokenOff = errors.New("the connection was given up together with a request that was waiting for it")

// breakOff ends all that a call waits for without a look at its context, as one does that began at an instant: the
// making of a connection, an answer on a connection that one call has for itself, and, where all addresses of a cluster
// are looked for, an answer on one that is dead.
func (f *flows) breakOff(since time.Duration) {
	f.mu.Lock()
	dialing := slices.Collect(maps.Keys(f.dialing))
	var stuck []*coalescingConn
	for b := range f.open {
		if b.isAlone() {
			stuck = append(stuck, b)
		}
	}
	f.mu.Unlock()
	for _, d := range dialing {
		f.closed.Store(int64(time.Since(started)))
		d.stop(errBrokenOff)
	}
	for _, b := range stuck {
		b.giveUp(errBrokenOff)
	}
	f.suspect(since)
}
