package quorum

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// linePatience is the part of the time that a node may take, for the one that tells who waits.
const linePatience = 4

// linesAtOnce bounds the lines of a batch that are looked at together.
const linesAtOnce = 16

// isHeld reports whether the claim is granted. One that is not is left to the goroutine that has occupied it.
func (cl *claim) isHeld() bool {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	return cl.state == held
}

// A request is one for a claim that is held.
type request struct {
	*claim
	asked driver.Claim
}

// A renewal is the renewing of claims that are held. A node that has a claim no more is asked for it anew only after
// that, and does not count: the claim must have been on a majority all the time.
type renewal struct {
	d       *Driver
	cls     []request
	results []driver.Result
	counts  []renewalCount
	open    int // claims that are not decided
}

type renewalCount struct {
	confirmed []*node
	gone      []*node // those that do not have it
	silent    int
	errs      []error
	decided   bool
	ttl       time.Duration // the shortest that a node has confirmed
}

// A nodeRenewal is what a node answered about the claims of a batch.
type nodeRenewal struct {
	from    *node
	results []driver.Result
	panic   any // of the node's driver
}

// renew renews claims, until a majority has decided about each. If the driver of a node panics, so does renew.
func (d *Driver) renew(ctx context.Context, cls []request) []driver.Result {
	n := len(cls)
	r := &renewal{d: d, cls: cls, results: make([]driver.Result, n), counts: make([]renewalCount, n), open: n}
	answers := make(chan nodeRenewal)
	over, panicked := make(chan struct{}), false
	defer close(over)
	within := d.renewsWithin(ctx, cls[0].ttl())
	for _, n := range d.nodes {
		ops := r.on(n)
		d.spawn(func(ctx context.Context) {
			a := nodeRenewal{from: n}
			defer func() {
				a.panic = recover()
				select {
				case answers <- a:
				case <-over:
					if a.panic != nil && !panicked { // nobody is left who could be told
						panic(a.panic)
					}
				}
			}()
			a.results = r.renewOn(ctx, n, within, ops)
		})
	}
	lines := r.askLines()
	for heard := 0; heard < len(d.nodes) && r.open > 0; heard++ {
		select {
		case a := <-answers:
			if panicked = a.panic != nil; panicked {
				panic(a.panic)
			}
			r.count(a)
		case <-ctx.Done():
			return r.conclude(ctx.Err())
		case <-d.lifetime.Done():
			return r.conclude(driver.ErrClosed)
		}
	}
	select {
	case <-lines:
	case <-time.After(d.patience(cls[0].ttl()) / linePatience): // it matters too little
	}
	return r.conclude(nil)
}

// renewsWithin is how long a node may take to renew claims: as long as the caller waits, who waits for no node once a
// majority has answered, but not for most of the TTL. A node that is slow because it has thousands of claims would be
// slower for being asked again.
func (d *Driver) renewsWithin(ctx context.Context, ttl time.Duration) time.Duration {
	within := d.patience(ttl)
	if end, ok := ctx.Deadline(); ok {
		within = max(within, min(time.Until(end), ttl/2))
	}
	return within
}

// on returns what a node is asked for: the claims as it knows them. One that it is not known to have it may have under
// the token that won: its answer is still under way, it did not show its claims, or another client has asked it.
func (r *renewal) on(n *node) []driver.Op {
	ops := make([]driver.Op, len(r.cls))
	for i, cl := range r.cls {
		cl.mu.Lock()
		c := cl.onNode()
		c.Token, c.Detached = cmp.Or(cl.held[n.at], cl.token), cl.asked.Detached
		ops[i] = driver.Op{Kind: driver.OpRequest, Claim: c, Brief: true, Follow: cl.follow}
		cl.mu.Unlock()
	}
	return ops
}

// renewOn renews claims on a node. It notes which of them the node has, and under which tokens: for those that it has
// lost it may be asked anew.
func (r *renewal) renewOn(ctx context.Context, n *node, within time.Duration, ops []driver.Op) []driver.Result {
	results, err := identified(ctx, n, within, func(ctx context.Context, n *node) ([]driver.Result, error) {
		return r.renewTwice(ctx, n, within, ops), nil
	})
	for i, got := range results {
		switch {
		case err != nil:
			results[i] = driver.Result{Err: err}
		case errors.Is(got.Err, driver.ErrGone):
			r.cls[i].lost(ops[i].Claim.ID, n.at)
		case got.Err == nil && got.Status.Granted:
			r.cls[i].holds(ops[i].Claim.ID, n.at, got.Status.Token)
		}
	}
	return results
}

// renewTwice renews claims on a node under the tokens that it named, and what is gone there under the token that won:
// the node may have accepted that, with its answer still under way. A claim that is detached another client may have
// given the node, under a token that it tells.
func (r *renewal) renewTwice(ctx context.Context, n *node, within time.Duration, ops []driver.Op) []driver.Result {
	results := n.renew(ctx, ops, within)
	var again []driver.Op
	var at []int
	for i, op := range ops {
		if !errors.Is(results[i].Err, driver.ErrGone) {
			continue
		}
		c := &op.Claim
		if c.Token = r.cls[i].winner(); c.Token == ops[i].Claim.Token && c.Detached {
			c.Token = tokenOn(ctx, n, *c)
		}
		if c.Token != ops[i].Claim.Token {
			again, at = append(again, op), append(at, i)
		}
	}
	for k, second := range n.renew(ctx, again, within) {
		results[at[k]] = second
	}
	return results
}

// tokenOn is the token that a claim has on a node; that under which it is known if it is not there.
func tokenOn(ctx context.Context, n *node, c driver.Claim) uint64 {
	queue, _ := queueOf(c.Name)(ctx, n) // who cannot tell has said that it is gone
	for _, e := range queue {
		if e.ID == c.ID && e.Granted {
			return e.Token
		}
	}
	return c.Token
}

// winner is the token of a claim that is held.
func (cl *claim) winner() uint64 {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	return cl.token
}

func (cl *claim) lost(id string, at int) {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	if roundID(cl.id, cl.round) == id {
		cl.held[at] = 0
	}
}

// count counts what a node answered. Claims that it does not have, it has not confirmed.
func (r *renewal) count(a nodeRenewal) {
	for i, got := range a.results {
		c := &r.counts[i]
		switch {
		case errors.Is(got.Err, driver.ErrGone), got.Err == nil && !got.Status.Granted:
			c.gone = append(c.gone, a.from)
		case got.Err != nil:
			c.silent++
			c.errs = append(c.errs, got.Err)
		default:
			if ttl := got.Status.TTL; len(c.confirmed) == 0 || ttl < c.ttl {
				c.ttl = ttl
			}
			c.confirmed = append(c.confirmed, a.from)
		}
		r.decide(c)
	}
}

func (r *renewal) decide(c *renewalCount) {
	enough := majority(len(r.d.nodes))
	spare := len(r.d.nodes) - enough
	if !c.decided && (engines(c.confirmed) >= enough || engines(c.gone)+c.silent > spare) {
		c.decided = true
		r.open--
	}
}

// conclude makes the results of what was counted. Claims that are not decided have the error, if there is one.
func (r *renewal) conclude(err error) []driver.Result {
	enough := majority(len(r.d.nodes))
	for i, cl := range r.cls {
		c := r.counts[i]
		switch {
		case engines(c.confirmed) >= enough:
			r.results[i].Status, r.results[i].Err = r.confirm(cl.claim, c.ttl)
		case engines(c.gone) > r.d.spare():
			r.results[i].Err = r.d.loseHeld(cl.claim)
		case err != nil:
			r.results[i].Err = err
		default:
			errs := append(c.errs, twins(c.confirmed)...)
			r.results[i].Err = r.d.notEnough("too few of %d servers renewed the claim", errs)
		}
	}
	return r.results
}

// confirm is the answer about a claim that a majority has for this TTL.
func (r *renewal) confirm(cl *claim, ttl time.Duration) (driver.Status, error) {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	if cl.state != held { // it was released meanwhile
		return driver.Status{}, driver.ErrGone
	}
	r.d.topUpLater(cl)
	st := cl.status()
	st.TTL = min(st.TTL, ttl)
	return st, nil
}

// loseHeld ends a claim that a majority no longer has, and gives back what is left of it.
func (d *Driver) loseHeld(cl *claim) error {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	if cl.leaving {
		return driver.ErrGone
	}
	if cl.state == held {
		c := cl.onNode()
		for _, n := range d.nodes {
			d.spawn(func(ctx context.Context) { d.giveBack(ctx, n, c) })
		}
	}
	d.giveUpTurn(cl.finish(false))
	d.tellEnd(cl)
	return driver.ErrGone
}

// askLines looks who waits for the locks of the claims, while they are renewed. The channel is closed when it is done.
// What comes after the renewal is for the next one, which begins later than this ends.
func (r *renewal) askLines() <-chan struct{} {
	done := make(chan struct{})
	r.d.spawn(func(context.Context) {
		defer close(done)
		ctx, cancel := context.WithCancel(r.d.lifetime)
		defer cancel()
		defer time.AfterFunc(r.d.patience(r.cls[0].ttl()), cancel).Stop() // a node that has less time is not in doubt
		from := rand.N(len(r.cls))                                        // others come first the next time
		var all sync.WaitGroup
		for first := range min(linesAtOnce, len(r.cls)) {
			all.Go(func() {
				for i := first; i < len(r.cls) && ctx.Err() == nil; i += linesAtOnce {
					r.d.look(ctx, r.cls[(from+i)%len(r.cls)].claim)
				}
			})
		}
		all.Wait()
	})
	return done
}
