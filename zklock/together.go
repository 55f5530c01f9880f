package zklock

import (
	"context"
	"errors"
	"slices"

	"github.com/go-zookeeper/zk"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/leased"
)

// mostTogether is how many operations one change makes at most.
const mostTogether = 50

// doTogether makes a change for each session, or some where one would be too large.
func (d *Driver) doTogether(ctx context.Context, parts []*part, tell func(at int, r driver.Result)) {
	var g driver.Group
	for _, change := range d.changes(parts) {
		g.Go(func() { change.make(ctx, tell) })
	}
	g.Wait()
}

// A part is an operation that is a part of a change.
type part struct {
	d     *Driver
	at    int // in the batch
	op    driver.Op
	claim *claim
	asked bool // of a request: it was sent before
	steps []any
	first int // of its steps, in the change
}

// part returns the part that makes an operation; nil where it has to go alone. It is a release of a claim whose place
// this client knows, or a first request for which there is a session with room.
func (d *Driver) part(at int, op *driver.Op) *part {
	c := op.Claim
	e := d.claims.Known(c)
	switch {
	case d.lifetime.Err() != nil:
		return nil
	case op.Kind == driver.OpRelease:
		if e == nil || c.Token == 0 || c.Token != e.Token() || e.place() == "" || e.isGone() || e.s.isAway() {
			return nil
		}
		steps := leaving(e.place(), e.note, d.ended(released, c.Token))
		return &part{d: d, at: at, op: *op, claim: e, steps: steps}
	case op.Kind != driver.OpRequest || e != nil || c.Token != 0 || !c.Queue || !d.isValid(c):
		return nil
	}
	s := d.readySession(c)
	if s == nil {
		return nil
	}
	e = d.enter(c, s)
	return &part{d: d, at: at, op: *op, claim: e, asked: e.maybeQueued(), steps: e.entry(c)}
}

// isValid reports whether a claim is known to be one that can be requested.
func (d *Driver) isValid(c driver.Claim) bool {
	t := d.learned.Load()
	return t != nil && d.keys.check(c.Name) == nil && driver.Validate(c, *t) == nil
}

// readySession returns a session for a claim, with its places kept in it, if there is one that is connected; else nil.
func (d *Driver) readySession(c driver.Claim) *session {
	places := d.placesOf(c)
	d.mu.Lock()
	slots := slices.Clone(d.slots[c.TTL])
	d.mu.Unlock()
	for _, slot := range slots {
		if s, ok := slot.Lease(); ok && s.use() && !s.isAway() && slot.room.take(places...) {
			return s
		}
	}
	return nil
}

// A change makes all of its parts or none, in one session.
type change struct {
	s     *session
	parts []*part
	bytes int
}

// changes distributes parts over changes, none of which is larger than what a server takes.
func (d *Driver) changes(parts []*part) (list []*change) {
	open := make(map[*session]*change)
	for _, p := range parts {
		ch, bytes := open[p.claim.s], p.bytes()
		if ch == nil || len(ch.parts) == mostTogether || ch.bytes+bytes > min(d.room, DefaultSessionBytes) {
			ch = &change{s: p.claim.s}
			open[ch.s] = ch
			list = append(list, ch)
		}
		ch.parts, ch.bytes = append(ch.parts, p), ch.bytes+bytes
	}
	return list
}

// bytes is how many the steps of a part take, with short ACLs. A server takes twice of what is allowed.
func (p *part) bytes() (n int) {
	const rest = 128
	for _, step := range p.steps {
		switch step := step.(type) {
		case *zk.CreateRequest:
			n += rest + len(step.Path) + len(step.Data)
		case *zk.SetDataRequest:
			n += rest + len(step.Path) + len(step.Data)
		case *zk.DeleteRequest:
			n += rest + len(step.Path)
		}
	}
	return n
}

// make makes the change, and answers about each of its parts.
func (ch *change) make(ctx context.Context, tell func(at int, r driver.Result)) {
	if len(ch.parts) == 1 {
		tell(ch.parts[0].at, ch.parts[0].alone(ctx))
		return
	}
	var steps []any
	for _, p := range ch.parts {
		p.first, steps = len(steps), append(steps, p.steps...)
	}
	from := leased.Now()
	made, failed, err := ch.s.multi(ctx, steps...)
	var conclude func(p *part) driver.Result
	switch {
	case err == nil:
		conclude = func(p *part) driver.Result { return p.done(ctx, made[p.first:][:len(p.steps)], from) }
	case failed >= 0, isRefused(err), errors.Is(err, errSessionLost): // none was made; nobody knows which others can be
		conclude = func(p *part) driver.Result { return p.alone(ctx) }
	default:
		conclude = func(p *part) driver.Result { return p.unanswered(err) }
	}
	var g driver.Group
	for _, p := range ch.parts {
		g.Go(func() { tell(p.at, conclude(p)) })
	}
	g.Wait()
}

// done answers about a part that was made, from what came of its steps.
func (p *part) done(ctx context.Context, made []zk.MultiResponse, from leased.Instant) (r driver.Result) {
	if p.op.Kind == driver.OpRelease {
		p.d.forgetButNote(p.claim)
		return r
	}
	r.Status, r.Err = p.d.queued(ctx, p.claim, p.op.Claim, made, from)
	return r
}

// unanswered answers about a part that may have been made.
func (p *part) unanswered(err error) driver.Result {
	if p.op.Kind == driver.OpRequest {
		err = p.d.unanswered(p.claim, p.asked, err)
	}
	return driver.Result{Err: err}
}

// alone makes a part by itself.
func (p *part) alone(ctx context.Context) (r driver.Result) {
	c := p.op.Claim
	if p.op.Kind == driver.OpRelease {
		r.Err = p.d.releaseKnown(ctx, p.claim, c)
		return r
	}
	r.Status, r.Err = p.d.put(ctx, p.claim, c)
	if errors.Is(r.Err, errSessionLost) && !isGone(r.Err) { // nothing was queued
		p.d.claims.Forget(p.claim)
		r.Status, r.Err = p.d.first(ctx, c)
	}
	return r
}
