package holdfast

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Goroutines of one client that want the same exclusive lock keep one claim in its queue between them: they wait at a
// gate. A released lock passes to the next of them without a round trip, a bounded number of times in a row, and then
// goes to the back of the queue (lock cohorting: Dice, Marathe, Shavit, "Lock Cohorting", PPoPP 2012).

// gates are the gates of a client. One lock guards them all, and is never held during I/O.
type gates struct {
	mu   sync.Mutex
	open map[gateKey]*gate
}

// A gateKey tells which goroutines can share a claim: those that would make the same one.
type gateKey struct {
	name     string
	limit    int64
	ttl      time.Duration
	owner    string
	handoff  int
	reuse    time.Duration
	patience time.Duration
	first    time.Duration
}

// A gate exists while its lock is held through it, or sought for those who wait at it.
type gate struct {
	gates *gates
	key   gateKey
	lock  lock // of the goroutine that made the gate; it notes in asked what has no answer yet
	ask   ask
	asked inquiry // what is being asked for those who wait

	// Guarded by gates.mu.
	hold     *hold              // nil while it is sought
	served   int                // how many grants of the hold there were after the first
	passes   int                // how often the hold was handed on
	turns    turns              // how often it may be
	reuse    reuse              // what is known about keeping it
	visitors []*visitor         // who waits, in order
	stop     context.CancelFunc // ends the search; nil when none is under way that could be ended
	stopped  func()             // must be called when a search has ended that nobody wants any more; see leave
}

// A visitor is a goroutine that waits at a gate.
type visitor struct {
	lock  *lock
	ready chan passed // has room for the one answer
}

// passed is what a visitor gets.
type passed struct {
	grant  *grant
	err    error
	caught *crash // a panic, to go on with
}

// passGate acquires an exclusive lock together with the other goroutines of this client.
func (l *lock) passGate(ctx context.Context, a ask, wait bool) (*grant, error) {
	s := l.settings
	key := gateKey{l.name, a.limit, s.ttl, s.owner, s.handoff, s.reuse, s.patience, s.firstAnswer}
	gs := &l.client.gates
	gs.mu.Lock()
	g, busy := gs.open[key]
	switch {
	case !busy:
		g = gs.add(key, l, a)
		gs.mu.Unlock()
		return g.enter(ctx, l, wait)
	case g.reuse.idle:
		grant, spent := g.reuseFor(l)
		gs.mu.Unlock()
		if spent == nil {
			return grant, nil
		}
		spent.unwanted()
		return l.passGate(ctx, a, wait)
	case wait:
		v := g.admit(l)
		gs.mu.Unlock()
		return g.await(ctx, l, v)
	}
	held := g.hold != nil && g.hold.valid() && g.hold.alive()
	gs.mu.Unlock()
	if held {
		return nil, l.taken()
	}
	return l.aside(ctx, a)
}

// aside tries with a claim of its own: whether the lock is free is not known here.
func (l *lock) aside(ctx context.Context, a ask) (*grant, error) {
	h, err := l.obtain(ctx, a, false)
	if err != nil {
		return nil, err
	}
	return h.grant(l, 0), nil
}

// add makes a gate. gs.mu is held.
func (gs *gates) add(key gateKey, l *lock, a ask) *gate {
	if gs.open == nil {
		gs.open = make(map[gateKey]*gate)
	}
	g := &gate{gates: gs, key: key, ask: a, lock: *l}
	g.lock.inquiry = &g.asked
	gs.open[key] = g
	return g
}

// admit puts a visitor at the end. gates.mu is held.
func (g *gate) admit(l *lock) *visitor {
	v := &visitor{lock: l, ready: make(chan passed, 1)}
	g.visitors = append(g.visitors, v)
	return v
}

// enter makes the first request for a gate that was just made. If that queues, the caller waits in front of those who
// have come since, and the search goes on for whoever is first when it ends. A hold that was lost before it came here,
// as when this process was paused, is sought anew; a caller that does not wait asks again, and does not queue.
func (g *gate) enter(ctx context.Context, l *lock, wait bool) (*grant, error) {
	o := g.begin(ctx, wait)
	for o.hold != nil {
		if grant := g.takeAlive(l, o.hold); grant != nil {
			return grant, nil
		}
		if wait {
			break
		}
		o = g.begin(ctx, wait)
	}
	if o.err != nil {
		return nil, o.err
	}
	g.gates.mu.Lock()
	v := &visitor{lock: l, ready: make(chan passed, 1)}
	g.visitors = slices.Insert(g.visitors, 0, v)
	g.search(o.waiter)
	g.gates.mu.Unlock()
	return g.await(ctx, l, v)
}

// takeAlive makes the hold the gate's and grants it, unless it was lost already: then it returns nil.
func (g *gate) takeAlive(l *lock, h *hold) *grant {
	g.gates.mu.Lock()
	defer g.gates.mu.Unlock()
	if !h.alive() {
		return nil
	}
	g.take(h)
	return h.grant(l, 0)
}

// begin makes that request. When it fails, or the driver panics, those who wait go on without the caller.
func (g *gate) begin(ctx context.Context, wait bool) (o outcome) {
	defer func() {
		if o.hold == nil && o.waiter == nil {
			g.proceed()
		}
	}()
	return g.lock.begin(ctx, g.ask, wait)
}

// take makes the hold the gate's. gates.mu is held.
func (g *gate) take(h *hold) { h.gate, g.hold, g.served, g.passes, g.turns = g, h, 0, 0, turns{} }

// opened makes the hold the gate's and grants it to the first visitor, or seeks another if it was lost already.
// gates.mu is held.
func (g *gate) opened(h *hold) {
	if !h.alive() {
		g.search(nil)
		return
	}
	g.take(h)
	g.serve()
}

// serve grants the hold to the first visitor. gates.mu is held.
func (g *gate) serve() {
	v := g.visitors[0]
	g.visitors = g.visitors[1:]
	v.ready <- passed{grant: g.hold.grant(v.lock, g.served)}
}

// await waits for the visitor's turn.
func (g *gate) await(ctx context.Context, l *lock, v *visitor) (*grant, error) {
	defer l.client.waits()()
	select {
	case p := <-v.ready:
		if p.caught != nil {
			panic(p.caught.value)
		}
		return p.grant, p.err
	case <-ctx.Done():
		silent := g.asked.silence(ctx)
		g.leave(v)
		return nil, l.notAcquired(ctx, silent)
	case <-l.client.closing.Done(): // whatever the hold's release still waits for
		g.leave(v)
		return nil, l.failure("lock", ErrClosed)
	}
}

// leave takes a visitor away whose context ended. A grant that it got meanwhile goes to the next. If nobody is left the
// search ends, and its claim is taken back; the next request of this client for the lock waits for that.
func (g *gate) leave(v *visitor) {
	g.gates.mu.Lock()
	i := slices.Index(g.visitors, v)
	if i >= 0 {
		g.visitors = slices.Delete(g.visitors, i, i+1)
		if len(g.visitors) == 0 && g.stop != nil && g.stopped == nil {
			g.stopped = g.lock.client.undoer.expect(g.key.name, g.key.ttl)
			g.stop()
		}
	}
	g.gates.mu.Unlock()
	if i >= 0 {
		return
	}
	p := <-v.ready
	if p.caught != nil {
		g.lock.client.survive(p.caught)
	}
	if p.grant == nil {
		return
	}
	if _, ended := p.grant.end(ErrReleased); ended {
		p.grant.hold.passOn() // nobody used it
	}
}

// search seeks the lock for the visitors, from where w got to. gates.mu is held.
func (g *gate) search(w *waiter) {
	ctx, cancel := context.WithCancel(context.Background())
	g.stop = cancel
	l := &g.lock
	l.client.run(func() {
		defer cancel()
		var h *hold
		var err error
		caught := catch(func() {
			o := outcome{waiter: w}
			if w == nil {
				o = l.begin(ctx, g.ask, true)
			}
			if h, err = o.hold, o.err; o.waiter != nil {
				h, err = l.pursue(ctx, g.ask, o.waiter)
			}
		})
		if caught != nil {
			g.failed(caught)
		} else {
			g.found(ctx, h, err)
		}
	})
}

// failed passes a panic of the search on to the first visitor. The others have the lock sought anew.
func (g *gate) failed(caught *crash) {
	g.gates.mu.Lock()
	g.searched()
	if len(g.visitors) > 0 {
		g.visitors[0].ready <- passed{caught: caught}
		g.visitors = g.visitors[1:]
	} else {
		g.lock.client.survive(caught)
	}
	g.gates.mu.Unlock()
	g.proceed()
}

// found gives the first visitor what the search brought: the lock, or to all of them the reason why not.
func (g *gate) found(ctx context.Context, h *hold, err error) {
	g.gates.mu.Lock()
	defer g.gates.mu.Unlock()
	if h != nil && len(g.visitors) == 0 {
		h.discard()
	}
	g.searched()
	switch {
	case h != nil && len(g.visitors) > 0:
		g.opened(h)
	case h != nil:
		g.close()
	case ctx.Err() != nil && len(g.visitors) > 0: // they came after the search was ended for want of visitors
		g.search(nil)
	default:
		g.dismiss(err)
	}
}

// searched notes that a search has ended. If nobody wanted it any more, its claim is on its way back. gates.mu is held.
func (g *gate) searched() {
	g.stop = nil
	if g.stopped != nil {
		g.stopped()
		g.stopped = nil
	}
}

// dismiss tells all visitors why they cannot have the lock. gates.mu is held.
func (g *gate) dismiss(err error) {
	for _, v := range g.visitors {
		v.ready <- passed{err: err}
	}
	g.visitors = nil
	g.close()
}

// close ends the gate. gates.mu is held.
func (g *gate) close() { delete(g.gates.open, g.key) }

// left says that a hold has ended, so that its gate, if it has one, goes on without it.
func (gs *gates) left(h *hold) {
	gs.mu.Lock()
	g := h.gate
	h.gate = nil
	gs.mu.Unlock()
	if g != nil {
		g.proceed()
	}
}

// proceed goes on without a hold: visitors have it sought anew, and without any the gate is closed.
func (g *gate) proceed() {
	g.gates.mu.Lock()
	defer g.gates.mu.Unlock()
	g.hold, g.turns = nil, turns{}
	g.reuse.end()
	switch err := g.lock.client.closed(); {
	case len(g.visitors) == 0:
		g.close()
	case err != nil:
		g.dismiss(g.lock.failure("lock", err))
	default:
		g.search(nil)
	}
}
