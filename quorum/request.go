package quorum

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// request acquires or renews a claim, as [driver.Driver] says. A claim that waits keeps its place in a line; when it
// is requested again and is the first, it tries to get the lock.
func (d *Driver) request(ctx context.Context, op *driver.Op) (driver.Status, error) {
	c := op.Claim
	if err := d.check(ctx, c); err != nil {
		return driver.Status{}, err
	}
	cl := d.claims.find(c)
	if cl == nil && c.Token != 0 {
		var err error
		if cl, err = d.adopt(ctx, c); err != nil {
			return driver.Status{}, err
		}
	}
	if cl == nil {
		cl = d.claims.add(newClaim(c, len(d.nodes)))
	}
	leave, err := cl.occupy(ctx)
	if err != nil {
		return driver.Status{}, err
	}
	defer leave()
	return d.acquireOrRenew(ctx, cl, op)
}

// check refuses what the driver cannot do.
func (d *Driver) check(ctx context.Context, c driver.Claim) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if d.lifetime.Err() != nil {
		return driver.ErrClosed
	}
	return driver.Validate(c, d.traits)
}

// acquireOrRenew asks for a claim that the caller has occupied.
func (d *Driver) acquireOrRenew(ctx context.Context, cl *claim, op *driver.Op) (driver.Status, error) {
	switch d.admit(cl, op) {
	case held:
		results := d.renew(ctx, []request{{cl, op.Claim}})
		return results[0].Status, results[0].Err
	case over:
		return driver.Status{}, driver.ErrGone
	}
	return d.acquire(ctx, cl)
}

// admit notes the request and returns the state of the claim as the caller may know it: over for one who names another
// token.
func (d *Driver) admit(cl *claim, op *driver.Op) state {
	c := op.Claim
	cl.mu.Lock()
	defer cl.mu.Unlock()
	if c.Token != 0 && c.Token != cl.token {
		return over
	}
	cl.follow = cl.follow || op.Follow
	if cl.state != over && !cl.isOlder(c) {
		cl.extend(c)
	}
	return cl.state
}

// isOlder reports whether a claim that is held was left alone after c was sent. The caller holds cl.mu.
func (cl *claim) isOlder(c driver.Claim) bool {
	return cl.state == held && cl.ask.Detached && !c.Detached
}

// Bounds of how often a claim is tried before the caller is told.
const (
	triesAtOnce = 4 // when rivals or nodes come in between
	triesFor    = 3 // the part of the TTL that they take together

	shortWait = 50 * time.Millisecond // for nodes that are almost old enough to vote
)

// acquire tries to get a claim granted. One that waits tries only when it is first in line, or when there is no line.
func (d *Driver) acquire(ctx context.Context, cl *claim) (driver.Status, error) {
	if cl.lines(d.memory.isBusy(cl.name)) && !d.takeTurn(ctx, cl) {
		return d.waits(cl, 0)
	}
	began := time.Now()
	for try := 1; ; try++ {
		r := d.begin(cl)
		v, err := r.run(ctx)
		if v == won && r.inTime() {
			return d.win(cl, r)
		}
		d.undo(ctx, r)
		if err != nil {
			return driver.Status{}, err
		}
		last := try >= triesAtOnce || time.Since(began) > cl.ask.TTL/triesFor
		st, pause, err := d.afterDefeat(ctx, cl, r, v, try, last)
		if pause == 0 || err != nil {
			return st, err
		}
		if err := driver.Sleep(ctx, pause); err != nil {
			return driver.Status{}, err
		}
	}
}

// afterDefeat is what to answer after a round that was not won, or how long to pause before the next.
func (d *Driver) afterDefeat(
	ctx context.Context, cl *claim, r *round, v verdict, try int, last bool,
) (st driver.Status, pause time.Duration, err error) {
	wait, shortage := r.shortage()
	pause = pauseAfter(try)
	switch {
	case v == ended, v == divided && cl.ask.Queue: // it lived longer somewhere than elsewhere, or never had all nodes
		return st, 0, d.lose(cl)
	case v == taken && cl.ask.Queue:
		st, err = d.standInLine(ctx, cl, r)
		return st, 0, err
	case (v == taken || v == divided) && (r.granted() == 0 || last):
		// What ended may be a try that left no trace elsewhere.
		d.claims.drop(cl) // a claim that would not wait leaves no trace
		return st, 0, nil
	case v == won && last:
		return st, 0, fmt.Errorf("%s: %d times the servers answered too late for a TTL of %v", d.traits.Backend, try,
			cl.ask.TTL)
	case v != short:
		return st, pause, nil // it was too late, or overtaken
	case 0 < wait && wait <= shortWait:
		return st, max(wait, pause), nil
	case 0 < wait && cl.ask.Queue:
		st, err = d.waits(cl, wait)
		return st, 0, err
	case 0 < wait, last:
		return st, 0, shortage
	}
	return st, pause, nil
}

// pauseAfter is how long to pause after a try that failed: longer and longer, and never in step with rivals.
func pauseAfter(try int) time.Duration {
	longest := 4 * time.Millisecond << try
	return longest/4 + rand.N(longest*3/4)
}

// lines reports whether the claim stands in line before it is tried.
func (cl *claim) lines(busy bool) bool {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	return cl.ask.Queue && (cl.turn != nil || busy)
}

// win makes the claim one that is held.
func (d *Driver) win(cl *claim, r *round) (driver.Status, error) {
	r.filled()
	cl.mu.Lock()
	defer cl.mu.Unlock()
	if cl.state == over || cl.leaving { // it was released meanwhile, though not under the ID of this round
		d.spawn(func(ctx context.Context) { d.undo(ctx, r) })
		return driver.Status{}, driver.ErrGone
	}
	cl.state, cl.token = held, r.token
	if cl.turn != nil {
		cl.contended = cl.turn.contended
	} else if d.memory.shouldLook(cl.name) {
		d.spawn(func(ctx context.Context) { d.look(ctx, cl) })
	}
	cl.askNoMore()
	d.topUpLater(cl)
	if cl.follow { // renewals tell the nodes so
		now := []request{{cl, cl.ask}}
		d.spawn(func(ctx context.Context) { d.renew(ctx, now) })
	}
	st := cl.status()
	st.TTL = r.ttl
	return st, nil
}

// status is the status of a claim that is held.
func (cl *claim) status() driver.Status {
	return driver.Status{Token: cl.token, Granted: true, TTL: cl.ask.TTL, Contended: cl.contended}
}

// lose ends a claim that the nodes say has ended.
func (d *Driver) lose(cl *claim) error {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	if !cl.leaving {
		d.giveUpTurn(cl.finish(false))
		d.tellEnd(cl)
	}
	return driver.ErrGone
}

// standInLine makes a claim that was refused wait: in line, or as the first of it, whom no place in line has told of
// who has the lock, for hints of the nodes.
func (d *Driver) standInLine(ctx context.Context, cl *claim, r *round) (driver.Status, error) {
	if !d.takeTurn(ctx, cl) {
		return d.waits(cl, 0)
	}
	d.hint(cl)
	return d.waits(cl, r.retry())
}

// waits makes the claim one that waits, and is its status. For the next in line, retry is when to ask again.
func (d *Driver) waits(cl *claim, retry time.Duration) (driver.Status, error) {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	switch cl.state {
	case over: // it was released meanwhile
		return driver.Status{}, driver.ErrGone
	case asked:
		cl.state = waiting
	}
	d.askAgain(cl)
	st := driver.Status{TTL: cl.ask.TTL, Retry: retry}
	if cl.turn != nil {
		st.Contended = cl.turn.contended
		if retry == 0 {
			st.Retry = cl.turn.retry
		}
	}
	return st, nil
}
