package quorum

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/boottime"
	"github.com/holdfast-go/holdfast/internal/causes"
)

// A round proposes a claim to all nodes, under a guess at its token and, if that was too small, under greater ones.
type round struct {
	d        *Driver
	cl       *claim
	node     driver.Claim  // the claim as the nodes know it
	began    time.Time     // read before anything is sent: the nodes count the TTL from later on
	booted   time.Duration // began, by the clock that never stops
	token    uint64
	votes    []vote
	lives    []string        // by node: in which it voted
	waits    []time.Duration // by node: when the claim that blocks this one expires
	errs     []error
	ttl      time.Duration // the shortest that a node has granted
	proposal int
	ballots  chan *ballot

	mu      sync.Mutex
	lost    bool   // whatever is granted from now on is given back
	won     bool   // who answers from now on may still learn the token
	touched []bool // by node: it granted, or may have
}

// A ballot is what a node answered to a proposal.
type ballot struct {
	at       int
	proposal int
	driver.Result
}

// mostProposals bounds the proposals of one round. More than two take rivals that overtake each other.
const mostProposals = 4

// begin starts another round for a claim. The caller has occupied it.
func (d *Driver) begin(cl *claim) *round {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	cl.round++
	clear(cl.held)
	n := len(d.nodes)
	booted, _ := boottime.Now() // where there is none, the other clock must do
	return &round{
		d: d, cl: cl, node: cl.onNode(), began: time.Now(), booted: booted, token: d.memory.guess(cl.name),
		ttl: cl.ask.TTL, touched: make([]bool, n), votes: make([]vote, n), lives: make([]string, n),
		waits: make([]time.Duration, n), errs: make([]error, n),
		ballots: make(chan *ballot, n*mostProposals),
	}
}

// run proposes until the votes decide. The error is that of ctx.
func (r *round) run(ctx context.Context) (verdict, error) {
	for {
		r.propose()
		v, err := r.collect(ctx)
		if v != behind || err != nil || r.proposal >= mostProposals {
			return v, err
		}
		r.token = next(r.votes, r.token)
	}
}

// propose sends the proposal to all nodes that may still vote for the claim.
func (r *round) propose() {
	r.proposal++
	for i, v := range r.votes {
		if v.answer == none || v.answer == granted {
			r.votes[i] = vote{}
			n, proposal, token := r.d.nodes[i], r.proposal, r.token
			r.d.spawn(func(ctx context.Context) { r.ask(ctx, n, proposal, token) })
		}
	}
}

// ask asks one node, and looks at what it is when it is in a life that is not known.
func (r *round) ask(ctx context.Context, n *node, proposal int, token uint64) {
	op := driver.Op{Kind: driver.OpPropose, Claim: r.node, Token: token}
	b := &ballot{n.at, proposal, n.do(ctx, &op, r.d.patience(r.node.TTL))}
	if b.Err == nil {
		if b.Status.Granted {
			r.cl.holds(r.node.ID, n.at, b.Status.Token)
		}
		r.d.examine(ctx, n)
	}
	if r.touch(b) {
		r.d.giveBack(ctx, n, r.node)
		return
	}
	r.ballots <- b
	r.learn()
}

// touch notes what a ballot says about whether the node has the claim, and reports whether it is to be given back. A
// proposal that was given up before it was sent has left nothing.
func (r *round) touch(b *ballot) (undo bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if b.Err == nil && b.Status.Granted || !driver.IsAnswer(b.Err) && !errors.Is(b.Err, driver.ErrUnsent) {
		r.touched[b.at] = true
		return r.lost
	}
	return false
}

// holds notes that a node has the claim of this round.
func (cl *claim) holds(id string, at int, token uint64) {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	if roundID(cl.id, cl.round) == id && cl.state != over {
		cl.held[at] = token
	}
}

// collect waits until the votes decide.
func (r *round) collect(ctx context.Context) (verdict, error) {
	for {
		if v := judge(r.votes, r.token); v != undecided {
			return v, nil
		}
		select {
		case b := <-r.ballots:
			r.count(b)
		case <-ctx.Done():
			return undecided, ctx.Err()
		case <-r.cl.alive.Done():
			return ended, nil
		case <-r.d.lifetime.Done():
			return undecided, driver.ErrClosed
		}
	}
}

// count notes a ballot. One for an earlier proposal says nothing: the node was asked again.
func (r *round) count(b *ballot) {
	if b.proposal != r.proposal {
		return
	}
	v := vote{token: b.Status.Token}
	switch {
	case errors.Is(b.Err, driver.ErrGone):
		v.answer = barred
	case b.Err != nil:
		v.answer = failed
	case !b.Status.Granted:
		v.answer = refused
		r.waits[b.at] = b.Status.Retry
	default:
		v.answer = granted
		r.ttl = min(r.ttl, b.Status.TTL)
	}
	r.votes[b.at], r.lives[b.at], r.errs[b.at] = v, b.Life.ID, b.Err
	r.recount()
	if v.token <= horizon(r.votes, r.token) {
		r.d.memory.heard(r.cl.name, v.token)
	}
}

// recount looks again at whose votes count: what was learnt about one node may change that of others.
func (r *round) recount() {
	for i := range r.votes {
		if v := &r.votes[i]; v.answer == granted {
			v.counts = !r.isCounted(i) && r.d.mayCount(r.d.nodes[i], r.cl.name, r.lives[i], r.began)
		}
	}
}

// filled notes which nodes have taken a token that won. What all others gave out before the round began is less, so
// these nodes know all that matters about the name, unless claims that they may have forgotten were alive when it
// began.
func (r *round) filled() {
	for i, v := range r.votes {
		if v.answer == granted {
			r.fill(i, v.token, r.lives[i])
		}
	}
	r.mu.Lock()
	r.won = true
	r.mu.Unlock()
	r.learn()
}

// learn notes those that answered when the round was already won: a node that is always the last must learn too.
func (r *round) learn() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.won {
		select {
		case b := <-r.ballots:
			if b.Err == nil && b.Status.Granted {
				r.fill(b.at, b.Status.Token, b.Life.ID)
			}
		default:
			return
		}
	}
}

func (r *round) fill(at int, token uint64, life string) {
	lives := r.d.nodes[at].lives()
	if token >= r.token && lives.life == life && r.d.hasWaited(lives, r.began) {
		r.d.memory.fill(r.cl.name, at, len(r.votes), life)
	}
}

// inTime reports whether enough of the TTL is left: the nodes count it from when they got the request, by clocks that
// run at rates of their own.
func (r *round) inTime() bool {
	drift := r.node.TTL/100 + 2*time.Millisecond
	took := time.Since(r.began)
	if now, ok := boottime.Now(); ok {
		took = max(took, now-r.booted) // the other clock stops while the machine is suspended
	}
	return took+drift < r.node.TTL
}

// retry is when enough of the claims that block this one have expired: zero when that is not known.
func (r *round) retry() time.Duration {
	enough := majority(len(r.votes))
	var waits []time.Duration
	for i, v := range r.votes {
		switch {
		case v.answer == granted:
			enough--
		case v.answer == refused && r.waits[i] > 0:
			waits = append(waits, r.waits[i])
		}
	}
	if enough < 1 || len(waits) < enough {
		return 0
	}
	slices.Sort(waits)
	return waits[enough-1]
}

// granted is how many nodes granted the claim.
func (r *round) granted() int {
	n := 0
	for _, v := range r.votes {
		if v.answer == granted {
			n++
		}
	}
	return n
}

// shortage is how long too few nodes can vote, when that is only a matter of time, and the error that says so.
func (r *round) shortage() (time.Duration, error) {
	var waits []time.Duration
	missing := majority(len(r.votes))
	for i, v := range r.votes {
		lives := r.d.nodes[i].lives()
		switch {
		case v.answer == granted && v.counts, v.answer == none: // the round ends without those that are slow
			missing--
		case v.answer == granted && !r.d.hasWaited(lives, r.began):
			waits = append(waits, max(r.d.traits.MaxTTL-time.Since(lives.born), 1))
		}
	}
	errs := slices.DeleteFunc(slices.Clone(r.errs), func(err error) bool { return err == nil })
	slices.Sort(waits)
	if len(waits) > 0 {
		left := seconds(waits[min(max(missing, 1), len(waits))-1])
		errs = append(errs, fmt.Errorf("%s; try again in %v (in development, see unsafefresh)",
			r.d.youngText(len(waits)), left))
	}
	errs = slices.Concat(errs, r.twins(), r.astray())
	if missing <= len(waits) && len(waits) > 0 {
		return waits[max(missing, 1)-1], r.d.notEnough("too few of %d servers can vote", errs)
	}
	return 0, r.d.notEnough("too few of %d servers can vote", errs)
}

// astray returns what to tell of nodes whose tokens are left alone.
func (r *round) astray() (found []error) {
	horizon := horizon(r.votes, r.token)
	for i, v := range r.votes {
		if v.answer == granted && v.counts && v.token > horizon {
			ahead := time.Duration(v.token-r.token) * time.Microsecond
			found = append(found, fmt.Errorf("%s: it knows a token that is %v ahead of those of the others; "+
				"compare the clocks", r.d.nodes[i].what, seconds(ahead)))
		}
	}
	return found
}

// notEnough joins what nodes said into one error. It is an answer only if so many nodes answered that no majority is
// left.
func (d *Driver) notEnough(format string, errs []error) error {
	answers := 0
	for _, err := range errs {
		if hasAnswered(err) {
			answers++
		}
	}
	what := fmt.Sprintf(format, len(d.nodes))
	all := causes.Of(errs...)
	switch {
	case all == nil:
		return fmt.Errorf("%s: %s", d.traits.Backend, what)
	case answers > d.spare():
		return fmt.Errorf("%s: %s: %w", d.traits.Backend, what, all)
	}
	return &unsure{fmt.Sprintf("%s: %s: %v", d.traits.Backend, what, all), all} // those who did not answer may do so
}
