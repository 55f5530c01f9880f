package holdfast

// turns bound how often in a row a hold is handed on locally while others wait for it at the backend:
// WithLocalHandoff times. Who waits there is known from answers alone, and from one that nobody does it follows for
// the time before it was asked for. So the hold goes on for that many times after the last question that was answered
// so. The next is asked before these are used up; when its answer is late, the hold stays with the gate until it
// comes.
type turns struct {
	cleared int     // after so many passes nobody waited at the backend
	asked   int     // passes when the backend was asked last
	at      instant // and when that was
	paused  bool    // nobody has the lock until the answer comes
}

// left is how many passes are allowed without another answer.
func (t *turns) left(passes, most int) int { return t.cleared + most - passes }

// askEarly is the part of the passes that is left when the backend is asked.
const askEarly = 4

// isDue reports whether the backend is to be asked, after so many passes.
func (t *turns) isDue(passes, most int) bool {
	return t.left(passes, most) <= most/askEarly && t.asked <= t.cleared
}

// ask notes that it is asked, at an instant.
func (t *turns) ask(passes int, at instant) { t.asked, t.at = passes, at }

// hear notes the answer to a question that was sent at an instant.
func (t *turns) hear(sent instant, contended bool) {
	if !contended && sent >= t.at {
		t.cleared = t.asked
	}
}

// pass hands a hold to the next visitor of its gate, or keeps it for that one until it is known who else waits. It is
// false when there is no visitor, or it is the others' turn.
func (gs *gates) pass(h *hold) bool {
	gs.mu.Lock()
	defer gs.mu.Unlock()
	g := h.gate
	switch {
	case g == nil || !g.canServe():
		return false
	case g.turns.left(g.passes, g.key.handoff) > 0:
		g.serveNext()
		return true
	case h.isContended():
		return false
	}
	g.turns.paused = true
	return true
}

// canServe reports whether there is somebody to hand the hold to, and it may be handed on at all. gates.mu is held.
func (g *gate) canServe() bool {
	return len(g.visitors) > 0 && g.lock.client.closed() == nil && g.hold.handsOn(g.served)
}

// serveNext hands the hold on. gates.mu is held.
func (g *gate) serveNext() {
	g.passes++
	g.served++
	if t := &g.turns; t.isDue(g.passes, g.key.handoff) {
		t.ask(g.passes, now())
		g.lock.client.keeper.hurry(&g.hold.tracked)
	}
	g.serve()
}

// answered notes whether others waited for the hold when the backend was asked, and goes on with a hold that was kept
// until that was known.
func (gs *gates) answered(h *hold, sent instant, contended bool) {
	gs.mu.Lock()
	g := h.gate
	if g == nil {
		gs.mu.Unlock()
		return
	}
	t := &g.turns
	t.hear(sent, contended)
	over := false
	if t.paused {
		over = contended || !g.canServe()
		if more := t.left(g.passes, g.key.handoff) > 0; over || more {
			t.paused = false
		}
		if !over && !t.paused {
			g.serveNext()
		}
	}
	spare := g.reuse.idle && !g.mayReuse()
	if spare {
		g.reuse.idle = false
	}
	gs.mu.Unlock()
	switch {
	case over:
		h.lock.client.run(h.returnUnused)
	case spare:
		h.unwanted()
	}
}

// unpause ends the wait of a hold that nobody has, for an answer or for the next caller, and reports whether it
// waited.
func (gs *gates) unpause(h *hold) (was bool) {
	gs.mu.Lock()
	defer gs.mu.Unlock()
	if g := h.gate; g != nil {
		was = g.turns.paused || g.reuse.idle
		g.turns.paused, g.reuse.idle = false, false
	}
	return was
}
