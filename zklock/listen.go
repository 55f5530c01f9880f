package zklock

import (
	"context"
	"sync"

	"github.com/holdfast-go/holdfast/driver"
)

// listen reports what happens to a claim, as [driver.Followers] says. The client library passes each event to the
// driver, so this takes no goroutine.
func (d *Driver) listen(ctx context.Context, c driver.Claim, moved func()) (stop func(), err error) {
	e := d.claims.Known(c)
	switch {
	case e == nil || e.isGone() || e.place() == "":
		moved()
		return func() {}, nil
	}
	stop = e.s.subscriptions.add(e.place(), moved) // before the look, so that nothing comes in between
	missed, err := e.missed(ctx)
	switch {
	case missed || isGone(err):
		moved()
	case err != nil:
		stop()
		return nil, err
	}
	return stop, nil
}

// missed reports whether something may have happened after the last answer about the claim, and makes sure that
// the node is watched from now on.
func (e *claim) missed(ctx context.Context) (bool, error) {
	e.mu.Lock()
	self := e.self
	e.mu.Unlock()
	if self == nil { // it was not watched yet, or not any more
		known := e.Status().Revoked
		err := e.watchSelf(ctx)
		return e.Status().Revoked != known, err
	}
	return len(self) > 0 || e.s.isLost(), nil
}

// subscriptions are to what happens to nodes, by their paths.
type subscriptions struct {
	mu sync.Mutex
	at map[string]*func()
}

// add has moved called whenever something happens to a node, until stop is called or another takes its place.
func (e *subscriptions) add(path string, moved func()) (stop func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.at == nil {
		e.at = make(map[string]*func())
	}
	e.at[path] = &moved
	return func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		if e.at[path] == &moved {
			delete(e.at, path)
		}
	}
}

// notify tells who listens for a node.
func (e *subscriptions) notify(path string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if moved := e.at[path]; moved != nil {
		(*moved)()
	}
}

// notifyAll tells all.
func (e *subscriptions) notifyAll() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, moved := range e.at {
		(*moved)()
	}
}
