package holdfast

import (
	"context"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// WithReuse keeps an exclusive lock with its client after a Release, so that the next Lock or TryLock of that client
// takes it without a round trip, with a greater token. The client gives the lock back as soon as it learns that
// somebody else queues for it, and at the latest d after the first Release since the backend granted it. It is told at
// once, but on a database it looks: after 10 ms where others have just come, and otherwise every 50 to 100 ms, for all
// locks that it keeps in one statement. So a lock that one client takes again and again costs little while nobody else
// wants it. The default is 0: each Release gives the lock back.
//
// It does not help where other clients want the lock as often, or where most names are used once: each lock that is
// kept costs one more request and a watch. Until the lock is given back it is taken for everybody else: a TryLock of
// another client fails, as does one of this client with other options, and after a crash the lock is free within its
// TTL. Release then returns nil because the lock was valid by its deadline, and does not ask the backend.
//
// It excludes [WithMinHold] and WithLocalHandoff(0), and is an error on backends that cannot tell who waits. Shared
// locks, permits, and locks of [LockAll] and [Election] are given back by their Release.
func WithReuse(d time.Duration) Option { return func(s *settings) { s.reuse = d } }

// checkReuse reports what WithReuse cannot be combined with.
func (s *settings) checkReuse() error {
	switch {
	case s.reuse < 0:
		return fmt.Errorf("WithReuse(%v): the duration must not be negative", s.reuse)
	case s.reuse > 0 && s.minHold > 0:
		return fmt.Errorf("WithReuse(%v) and WithMinHold(%v) exclude each other: choose one", s.reuse, s.minHold)
	case s.reuse > 0 && s.handoff == 0:
		return fmt.Errorf("WithReuse(%v) and WithLocalHandoff(0) exclude each other: a lock that is kept is not "+
			"granted first come, first served", s.reuse)
	}
	return nil
}

// canReuse reports whether the backend tells when somebody queues for a lock.
func (l *lock) canReuse() error {
	t := l.client.traits
	if l.settings.reuse == 0 || t.FIFO && t.Ops.Has(driver.OpWatch) {
		return nil
	}
	return fmt.Errorf("WithReuse(%v): %w: it cannot tell who waits, so a lock would be kept from others",
		l.settings.reuse, driver.Unsupported(t, "reuse"))
}

// A reuse is what a gate knows about keeping its hold for the next caller. gates.mu guards it.
type reuse struct {
	idle  bool               // the hold is kept, and nobody has it
	until instant            // it is not kept any longer; zero before it was kept for the first time
	stop  context.CancelFunc // ends the lookout
}

// end forgets a hold that has ended.
func (r *reuse) end() {
	if r.stop != nil {
		r.stop()
	}
	*r = reuse{}
}

// keep keeps a hold, whose grant has been released, for the next caller. It is false where that is not wanted, or not
// any more.
func (gs *gates) keep(h *hold) bool {
	gs.mu.Lock()
	defer gs.mu.Unlock()
	g := h.gate
	if g == nil || g.key.reuse == 0 || len(g.visitors) > 0 || !g.mayReuse() {
		return false
	}
	if g.reuse.until == 0 {
		g.reuse.until = now().add(g.key.reuse)
		g.lookOut()
	}
	g.reuse.idle = now() < g.reuse.until
	return g.reuse.idle
}

// mayReuse reports whether the hold can serve one more caller, and nobody else is known to wait. gates.mu is held.
func (g *gate) mayReuse() bool {
	return g.lock.client.closed() == nil && g.hold.handsOn(g.served) && !g.hold.isContended()
}

// reuseFor grants a hold that is kept to a caller. Where the hold cannot serve it, the caller is to give it back; see
// unwanted. gates.mu is held.
func (g *gate) reuseFor(l *lock) (_ *grant, spent *hold) {
	g.reuse.idle = false
	if !g.mayReuse() {
		return nil, g.hold
	}
	g.served++
	return g.hold.grant(l, g.served), nil
}

// endReuse gives a hold back that is kept. Where somebody has it, the next release will.
func (gs *gates) endReuse(h *hold) {
	gs.mu.Lock()
	idle := false
	if g := h.gate; g != nil {
		idle, g.reuse.idle, g.reuse.until = g.reuse.idle, false, now()
	}
	gs.mu.Unlock()
	if idle {
		h.unwanted()
	}
}

// lookOut learns in the background when somebody queues for the lock, or its time is over, and then ends the reuse.
// gates.mu is held.
func (g *gate) lookOut() {
	h, d := g.hold, g.key.reuse
	c := h.lock.client
	open, stop := c.untilClosed(context.Background())
	ctx, cancel := context.WithTimeout(open, d)
	g.reuse.stop = cancel
	c.run(func() {
		defer stop()
		defer cancel()
		h.awaitOthers(ctx)
		c.gates.endReuse(h)
	})
}

// awaitOthers returns when the queue has changed, most likely because somebody has joined it, or when ctx ends. Those
// who have queued before the watch began are seen by a renewal after that; see answered.
func (h *hold) awaitOthers(ctx context.Context) {
	l := h.lock
	changed, unwatch := l.client.inbox.watch(l.name)
	defer unwatch()
	for pace := paceUpTo(longestLull); ctx.Err() == nil; {
		err := l.watch(ctx, changed)
		l.client.keeper.hurry(&h.tracked)
		if err != nil {
			pace.Pause(ctx) // the loop looks at ctx
			continue
		}
		pace.Reset()
		if l.awaitChange(ctx, changed) {
			return
		}
	}
}
