package zklock

import (
	"context"

	"github.com/go-zookeeper/zk"
)

// A spot is something that can be watched: a node, and what about it.
type spot struct {
	path string
	what what
}

type what int

const (
	itsData     what = iota // of a node that is there: it changed, or the node is gone
	itsChildren             // of a node that is there: some came or went
	itsCreation             // of a node that is not there
)

// A watch tells once that something happened. The library cannot give a watch up before that, so all who are
// interested in the same spot share one.
type watch struct {
	spot  spot
	data  []byte        // when it began
	fired chan struct{} // closed when something happened, or the session has ended
	event zk.Event      // what; valid then
}

// watch begins to watch a spot, unless that goes on already. [zk.ErrNoNode] when a node should be there and is not:
// then nothing is left behind on the server.
func (s *session) watch(ctx context.Context, at spot) (*watch, error) {
	if w := s.watched(at); w != nil {
		return w, nil
	}
	return ask(ctx, s, func(c *zk.Conn) (*watch, error) {
		data, events, err := begin(c, at)
		if err != nil {
			return nil, err
		}
		w := &watch{spot: at, data: data, fired: make(chan struct{})}
		s.mu.Lock()
		s.watches[at] = w
		s.mu.Unlock()
		s.d.running.Go(func() { s.awaitEvent(w, events) })
		return w, nil
	})
}

func begin(c *zk.Conn, at spot) (data []byte, events <-chan zk.Event, err error) {
	switch at.what {
	case itsChildren:
		_, _, events, err = c.ChildrenW(at.path)
	case itsCreation:
		var there bool
		if there, _, events, err = c.ExistsW(at.path); there {
			err = zk.ErrNodeExists
		}
	default:
		data, _, events, err = c.GetW(at.path)
	}
	return data, events, err
}

func (s *session) watched(at spot) *watch {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.watches[at]
}

// awaitEvent waits for the event, which comes with the end of the session at the latest.
func (s *session) awaitEvent(w *watch, events <-chan zk.Event) {
	w.event = <-events
	s.mu.Lock()
	if s.watches[w.spot] == w {
		delete(s.watches, w.spot)
	}
	s.mu.Unlock()
	close(w.fired) // last: whoever wakes up and watches again must not get this one
}

// channel is closed when something happened: nowhere for nil.
func (w *watch) channel() <-chan struct{} {
	if w == nil {
		return nil
	}
	return w.fired
}
