package quorum

import (
	"context"
	"errors"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// A topUp is the asking of one node for a claim that a majority has, and it has not.
type topUp struct {
	asking bool
	pause  time.Duration // after the last refusal; zero after another answer
	after  time.Time     // when it may be asked again
}

// Bounds of topping up.
const (
	topUpAfter = 20 // part of the TTL after which the other nodes are asked again
	topUpTries = 16 // at once on a node: one that is back has thousands of claims to take, and others to renew
	topUpPause = 4  // part of the TTL for which a node that has refused is left alone at first; then twice as long

	topUpLongest = 30 * time.Second
)

// topUpLater asks the nodes that do not have a claim for it, a moment later: what held them back is over soon, and the
// more have it, the more may fail. The caller holds cl.mu.
func (d *Driver) topUpLater(cl *claim) {
	if cl.nodesHeld() == len(d.nodes) || cl.toppingUp {
		return
	}
	cl.toppingUp = true
	d.spawn(func(ctx context.Context) {
		waiting, stop := d.whileAlive(ctx, cl)
		defer stop()
		if driver.Sleep(waiting, jittered(cl.ttl()/topUpAfter)) == nil {
			d.topUp(cl)
		}
		cl.mu.Lock()
		defer cl.mu.Unlock()
		cl.toppingUp = false
	})
}

// whileAlive returns a context that ends with the claim and with the driver too.
func (d *Driver) whileAlive(ctx context.Context, cl *claim) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	stops := []func() bool{context.AfterFunc(d.lifetime, cancel), context.AfterFunc(cl.alive, cancel)}
	return ctx, func() {
		for _, stop := range stops {
			stop()
		}
		cancel()
	}
}

// topUp begins to ask the nodes that do not have a claim for it, if they are not being asked already, and have not
// refused it just now.
func (d *Driver) topUp(cl *claim) {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	if cl.topUps == nil {
		cl.topUps = make([]topUp, len(d.nodes))
	}
	now := time.Now()
	for i, n := range d.nodes {
		if u := &cl.topUps[i]; cl.held[i] == 0 && !u.asking && !now.Before(u.after) {
			u.asking = true
			d.spawn(func(ctx context.Context) { d.topUpOn(ctx, n, cl) })
		}
	}
}

// topUpOn asks a node for a claim when it is its turn: others may be asking the node for theirs.
func (d *Driver) topUpOn(ctx context.Context, n *node, cl *claim) {
	refused := false
	defer func() {
		cl.mu.Lock()
		defer cl.mu.Unlock()
		cl.topUps[n.at].end(refused, cl.ask.TTL)
	}()
	alive, stop := d.whileAlive(ctx, cl)
	defer stop()
	if n.topUps.await(alive) != nil {
		return
	}
	defer n.topUps.leave()
	cl.mu.Lock()
	c, token, lacks := cl.onNode(), cl.token, cl.state == held && cl.held[n.at] == 0
	cl.mu.Unlock()
	if !lacks {
		return
	}
	r := n.do(ctx, &driver.Op{Kind: driver.OpPropose, Claim: c, Token: token}, d.patience(c.TTL))
	if r.Err == nil && r.Status.Granted {
		cl.holds(c.ID, n.at, r.Status.Token)
	}
	refused = errors.Is(r.Err, driver.ErrRefused)
}

// end notes how the asking ended. A node may refuse all claims for as long as they live, as one does whose clock is
// wrong: it is asked after longer and longer pauses, or who holds thousands of locks would keep it busy for nothing.
func (u *topUp) end(refused bool, ttl time.Duration) {
	u.asking = false
	if !refused {
		u.pause = 0
		return
	}
	u.pause = min(max(2*u.pause, ttl/topUpPause), topUpLongest)
	u.after = time.Now().Add(u.pause)
}
