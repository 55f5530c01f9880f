package quorum

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// A turn is the place of a claim in the line for its lock: a claim of its own that is queued on one node, on a lock
// beside the real one. Whoever has that lock is first in line and tries, and keeps its place until it has released
// the real one: so the next in line is told once, when there is something to try for. Nothing depends on it but how
// much is asked for in vain: when the node fails, or a place expires, clients stand in line on the next one, and
// those in different lines are rivals.
type turn struct {
	at        int
	claim     driver.Claim
	first     bool
	contended bool
	retry     time.Duration
	asked     time.Time // when the node answered last
}

// takeTurn keeps the claim's place in the line, or takes one, and reports whether it is first. So it is where no node
// can keep a line. A claim that has ended takes none.
func (d *Driver) takeTurn(ctx context.Context, cl *claim) bool {
	for try := range len(d.nodes) {
		t, ok := d.turnOf(cl, try)
		if !ok {
			return false
		}
		if t.first && time.Since(t.asked) < t.claim.TTL/turnPart {
			return true
		}
		n := d.nodes[t.at]
		r := n.do(ctx, &driver.Op{Kind: driver.OpRequest, Claim: t.claim}, d.patience(t.claim.TTL))
		switch {
		case r.Err == nil:
			return d.tookTurn(cl, t, r.Status)
		case ctx.Err() != nil:
			return false
		case !errors.Is(r.Err, driver.ErrGone): // who knows whether it is in the line
			d.giveUpTurn(&t)
		case d.isBroken(ctx, n, t):
			d.lose(cl)
			return false
		}
		cl.leaveLine(t)
	}
	return true
}

// isBroken reports whether a place in line is gone although it cannot have expired, and the node has not forgotten
// it: then somebody has broken the claim.
func (d *Driver) isBroken(ctx context.Context, n *node, t turn) bool {
	if t.claim.Token == 0 || time.Since(t.asked) >= t.claim.TTL {
		return false
	}
	t.claim.Token = 0
	err := n.do(ctx, &driver.Op{Kind: driver.OpRequest, Claim: t.claim}, d.patience(t.claim.TTL)).Err
	if !errors.Is(err, driver.ErrGone) {
		d.giveUpTurn(&t) // it is in the line anew
	}
	return errors.Is(err, driver.ErrGone)
}

// turnPart is the part of its TTL for which a turn need not be renewed.
const turnPart = 4

// turnOf returns the turn of the claim, or a new one, on the first node from its home on that is not in doubt; none
// when the claim has ended, or others would wait behind it for a TTL.
func (d *Driver) turnOf(cl *claim, try int) (t turn, ok bool) {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	switch {
	case cl.state == over:
		return turn{}, false
	case cl.turn != nil:
		cl.turn.claim.TTL = cl.ask.TTL
		return *cl.turn, true
	}
	cl.turns++
	c := cl.ask
	c.Name, c.ID, c.Token, c.Queue = turnLock(cl.name), turnID(cl.id, cl.turns), 0, true
	cl.turn = &turn{at: d.keeper(cl.name, try), claim: c}
	return *cl.turn, true
}

// keeper is the node that keeps the line for a name.
func (d *Driver) keeper(name string, try int) int {
	n := len(d.nodes)
	from := home(name, n)
	for i := range n {
		if at := (from + i) % n; !d.nodes[at].inDoubt() {
			return at
		}
	}
	return (from + try) % n
}

// tookTurn notes what the node answered.
func (d *Driver) tookTurn(cl *claim, t turn, st driver.Status) bool {
	cl.mu.Lock()
	if cl.turn == nil || cl.turn.claim.ID != t.claim.ID { // it was released meanwhile
		cl.mu.Unlock()
		d.giveUpTurn(&t)
		return false
	}
	cl.turn.claim.Token = st.Token
	cl.turn.asked = time.Now()
	cl.turn.first, cl.turn.contended, cl.turn.retry = st.Granted, st.Contended, st.Retry
	cl.mu.Unlock()
	return st.Granted
}

func (cl *claim) leaveLine(t turn) {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	if cl.turn != nil && cl.turn.claim.ID == t.claim.ID {
		cl.turn = nil
	}
}

// giveUpTurn gives a place in the line back, in the background; t may be nil. The channel is closed when that is done.
func (d *Driver) giveUpTurn(t *turn) <-chan struct{} {
	done := make(chan struct{})
	if t == nil {
		close(done)
		return done
	}
	c := t.claim
	c.Token = 0
	d.spawn(func(ctx context.Context) {
		defer close(done)
		d.giveBack(ctx, d.nodes[t.at], c)
	})
	return done
}

// passTurn is giveUpTurn for a lock that was released: whoever comes now should find the line as it is. It is not worth
// waiting for a node that is slow.
func (d *Driver) passTurn(ctx context.Context, t *turn) {
	done := d.giveUpTurn(t)
	if t == nil || d.nodes[t.at].inDoubt() {
		return
	}
	limit := time.NewTimer(d.patience(t.claim.TTL) / linePatience)
	defer limit.Stop()
	select {
	case <-done:
	case <-limit.C:
	case <-ctx.Done():
	case <-d.lifetime.Done():
	}
}

// look looks whether others stand in line for a lock that is held: on the node that keeps the line, and on one of the
// others, each time on the next, because whoever had no answer from the first stands elsewhere.
func (d *Driver) look(ctx context.Context, cl *claim) {
	keeper := d.keeper(cl.name, 0)
	second := cl.secondLine(keeper, len(d.nodes))
	found := make(chan bool)
	go func() { found <- d.othersAt(ctx, cl, second) }()
	atKeeper := d.othersAt(ctx, cl, keeper)
	atSecond := <-found
	if ctx.Err() != nil {
		return // what they would have answered is not known
	}
	cl.mu.Lock()
	defer cl.mu.Unlock()
	cl.contended = atKeeper || atSecond
	if !atSecond {
		cl.astray++
	}
}

// secondLine is a node beside the one that keeps the line.
func (cl *claim) secondLine(keeper, nodes int) int {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	return (keeper + 1 + cl.astray%(nodes-1)) % nodes
}

// headOfLine is how many places in a line tell whether others are there: one of them is the claim's own, and one may
// be what it has given up.
const headOfLine = 3

// othersAt reports whether others stand in the line on a node, as far as it answers.
func (d *Driver) othersAt(ctx context.Context, cl *claim, at int) bool {
	n := d.nodes[at]
	if n.inDoubt() {
		return false
	}
	op := driver.Op{Kind: driver.OpQueue, Claim: on(turnLock(cl.name)), Most: headOfLine}
	line := n.do(ctx, &op, d.patience(cl.ttl()))
	return line.Err == nil && slices.ContainsFunc(line.Queue, func(e driver.Entry) bool {
		return !isOf(cl.id, e.ID)
	})
}
