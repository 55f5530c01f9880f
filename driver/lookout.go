package driver

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// A Lookout finds out when queues change, for engines that do not tell: it looks at all queues that a client watches
// together, again and again while there are some. The fields are set before the first call.
type Lookout struct {
	// Digests returns the digests of the queues with these names, in their order.
	Digests func(ctx context.Context, names []string) ([]Digest, error)
	// Pace are the pauses between looks. They begin anew when a look shows a change: most likely others follow.
	Pace Backoff

	mu      sync.Mutex
	watches []*polledWatch
	turn    chan struct{} // has an element while a call of Changed looks for all of them
	joined  chan struct{} // has an element when a watch may have joined that has no digest yet
	due     time.Time     // when all are to be looked at; for the call that has the turn
}

// A Digest is numbers that a queue has until it changes: then at least one is another. Renewals do not change them.
type Digest [3]int64

// digestsAtOnce bounds the names in one call of Digests.
const digestsAtOnce = 256

// A polledWatch is a call of Changed.
type polledWatch struct {
	name  string
	begun func()
	first *Digest    // nil until it is known; for the call that has the turn
	over  chan error // has room for what Changed returns
}

// Changed is for [Followers]. One of the calls looks for all of them, until its own queue changes.
func (l *Lookout) Changed(ctx context.Context, name string, begun func()) error {
	w := &polledWatch{name: name, begun: begun, over: make(chan error, 1)}
	l.add(w)
	defer l.remove(w)
	select {
	case err := <-w.over:
		return err
	case <-ctx.Done():
		return ctx.Err()
	case l.turn <- struct{}{}:
		defer func() { <-l.turn }()
		return l.lookUntil(ctx, w.over)
	}
}

// Told ends the watches of a queue that has changed, for engines that can tell of some changes.
func (l *Lookout) Told(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, w := range l.watches {
		if w.name == name {
			w.end(nil)
		}
	}
}

// add adds a watch, and asks for its first digest.
func (l *Lookout) add(w *polledWatch) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.turn == nil {
		l.turn, l.joined = make(chan struct{}, 1), make(chan struct{}, 1)
	}
	if len(l.watches) == 0 {
		l.due = time.Now().Add(l.Pace.Next())
	}
	l.watches = append(l.watches, w)
	select {
	case l.joined <- struct{}{}:
	default: // it has one
	}
}

func (l *Lookout) remove(w *polledWatch) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.watches = slices.DeleteFunc(l.watches, func(other *polledWatch) bool { return other == w })
}

// lookUntil looks at all queues until one call of Changed is over.
func (l *Lookout) lookUntil(ctx context.Context, over <-chan error) error {
	for {
		l.lookAt(ctx, l.watched(func(w *polledWatch) bool { return w.first == nil }))
		select {
		case err := <-over:
			return err
		case <-ctx.Done():
			return ctx.Err()
		case <-l.joined:
		case <-time.After(time.Until(l.due)):
			if l.lookAt(ctx, l.watched(func(*polledWatch) bool { return true })); ctx.Err() == nil {
				l.due = time.Now().Add(l.Pace.Next())
			}
		}
	}
}

// watched returns the watches of which is says so.
func (l *Lookout) watched(is func(*polledWatch) bool) (some []*polledWatch) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, w := range l.watches {
		if is(w) {
			some = append(some, w)
		}
	}
	return some
}

// lookAt reads digests, and ends the watches of queues that have changed. If ctx ends, the next call looks again.
func (l *Lookout) lookAt(ctx context.Context, watches []*polledWatch) {
	for some := range slices.Chunk(watches, digestsAtOnce) {
		names := make([]string, len(some))
		for i, w := range some {
			names[i] = w.name
		}
		digests, err := l.Digests(ctx, names)
		if ctx.Err() != nil {
			return
		}
		if err == nil && len(digests) != len(names) {
			err = fmt.Errorf("%d digests of %d queues", len(digests), len(names))
		}
		for i, w := range some {
			switch {
			case err != nil:
				w.end(err)
			case w.first == nil:
				w.first = new(Digest)
				*w.first = digests[i]
				w.begun()
			case *w.first != digests[i]:
				w.end(nil)
				l.Pace.Reset()
			}
		}
	}
}

func (w *polledWatch) end(err error) {
	select {
	case w.over <- err:
	default: // it has ended before
	}
}
