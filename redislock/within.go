package redislock

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync/atomic"
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
	a := &attempt{flows: f, began: time.Since(started)}
	stop := context.AfterFunc(ctx, a.free)
	defer stop()
	reply = ask()
	a.over.Store(true)
	if a.freed.Load() {
		return reply, ctx.Err()
	}
	return reply, nil
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

// An attempt is a call that is made in place.
type attempt struct {
	flows *flows
	began time.Duration // since started
	over  atomic.Bool
	freed atomic.Bool // what it waited for was broken off
}

// overdue is by how much a call has outlasted its context that does not heed it: the others have returned by then.
const overdue = 10 * time.Millisecond

// free is called when the context of the attempt has ended, and returns when the attempt has.
func (a *attempt) free() {
	for time.Sleep(overdue); !a.over.Load(); time.Sleep(overdue) {
		a.freed.Store(true)
		a.flows.breakOff(a.began)
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
