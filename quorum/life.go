package quorum

import (
	"context"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// A record is what this client knows about the lives of a node.
//
// In a new life a node may have forgotten all that it granted. Its votes do not count while claims may live that it
// granted before: for the longest TTL. After that it can be trusted with locks, and with the tokens of a name once it
// has taken one that is greater than what all others gave out. A node remembers everything that matters if it has
// lived for longer than tokens are remembered, or if it was marked when all nodes were new at once.
type record struct {
	life     string
	born     time.Time // it began no later than this
	since    time.Time // it began then, by the clock of the node, but not before this client was told of another life
	examined time.Time // when the mark was last looked for; zero when that did not work yet
	marked   bool
}

// tokensKept is for how long nodes remember the last token of a lock that nobody uses. After that tokens follow the
// clock.
const tokensKept = time.Hour

// meet notes in which life a node answered. The age that a node says it has may be wrong, because its clock may have
// been set. Whether claims may live that it granted before is judged by that of the first life alone which this client
// sees. What it knows of tokens is judged by that of later ones, too: a client that asks for nothing does not see them
// begin, and took a node for one that has forgotten others' tokens which has learnt them long since.
func (n *node) meet(life driver.Life) {
	n.mu.Lock()
	defer n.mu.Unlock()
	before, now := n.met, time.Now()
	n.met = now
	if n.record.life == life.ID {
		return
	}
	if n.record.life == "" {
		began := now.Add(-life.Age)
		n.record = record{life: life.ID, born: began, since: began}
		return
	}
	idle := max(now.Sub(before), now.Round(0).Sub(before.Round(0))) // the second counts while the machine sleeps, too
	n.record = record{life: life.ID, born: now, since: now.Add(-min(life.Age, idle))}
}

// wasMet reports whether the node told its life during the last time.
func (n *node) wasMet(during time.Duration) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return !n.met.IsZero() && time.Since(n.met) < during
}

// lives returns the record of the node's newest life.
func (n *node) lives() record {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.record
}

// remembers reports whether the node knows all tokens that matter.
func (r record) remembers() bool { return r.marked || time.Since(r.since) >= tokensKept }

// examineAgain is after how long at most a node without a mark is looked at again.
const examineAgain = 5 * time.Second

// believed is how long a node counts as one without a mark, which another client may give it at any time. That is no
// longer than the longest TTL, for which the votes of a node do not count that has forgotten: when they do, all that is
// believed of the others was found out after that.
func (d *Driver) believed() time.Duration { return min(2*examineAgain, d.traits.MaxTTL) }

// examine looks whether a node that is young bears the mark, unless it was looked at not long ago.
func (d *Driver) examine(ctx context.Context, n *node) {
	r := n.lives()
	if r.life == "" || r.remembers() || !r.examined.IsZero() && time.Since(r.examined) < d.believed()/2 {
		return
	}
	if d.lookAt(ctx, n, r.life) && d.forgetful() == engines(d.nodes) {
		d.spawn(d.found)
	}
}

// lookAt looks whether a node bears the mark, which is a claim on a lock of ours with the life as its ID: a node that
// restarts loses it, or is in another life. ok is false if the node did not say.
func (d *Driver) lookAt(ctx context.Context, n *node, life string) (ok bool) {
	marks := n.do(ctx, &driver.Op{Kind: driver.OpQueue, Claim: on(lifeName)}, d.patience(d.traits.MaxTTL))
	if marks.Err != nil {
		return false
	}
	n.examined(life, slices.ContainsFunc(marks.Queue, func(m driver.Entry) bool { return m.ID == life }))
	return true
}

func (n *node) examined(life string, marked bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.record.life == life {
		n.record.examined, n.record.marked = time.Now(), marked
	}
}

// found marks the nodes when all of them are new: the quorum is, or all its nodes have forgotten everything, and
// nothing can be learnt any more. From then on a node without a mark is one that forgot what others know. Others may
// have marked all since a node was looked at, and one of them forgotten that: so each is looked at after the youngest
// began to live.
func (d *Driver) found(ctx context.Context) {
	lives := make([]string, len(d.nodes))
	var youngest time.Time
	for i, n := range d.nodes {
		r := n.lives()
		lives[i] = r.life
		if r.born.After(youngest) {
			youngest = r.born
		}
	}
	for i, n := range d.nodes {
		if n.lives().examined.Before(youngest) && !d.lookAt(ctx, n, lives[i]) {
			return
		}
	}
	for i, n := range d.nodes {
		if r := n.lives(); r.life != lives[i] || !d.isForgetful(r) {
			return
		}
	}
	for i, n := range d.nodes {
		d.spawn(func(ctx context.Context) { d.mark(ctx, n, lives[i]) })
	}
}

func (d *Driver) mark(ctx context.Context, n *node, life string) {
	r := n.do(ctx, &driver.Op{Kind: driver.OpRequest, Claim: driver.Claim{
		Name: lifeName, ID: life, Weight: 1, Limit: driver.All, TTL: tokensKept, Detached: d.traits.Detach,
		Owner: "quorum: this server remembers what it granted",
	}}, d.patience(d.traits.MaxTTL))
	if r.Err == nil && r.Status.Granted {
		n.examined(life, true)
	}
}

// isForgetful reports whether a node is known not to know all tokens that matter.
func (d *Driver) isForgetful(r record) bool {
	return r.life != "" && !r.remembers() && !r.examined.IsZero() && time.Since(r.examined) < d.believed()
}

// forgetful is how many engines are.
func (d *Driver) forgetful() int {
	var forgot []*node
	for _, n := range d.nodes {
		if d.isForgetful(n.lives()) {
			forgot = append(forgot, n)
		}
	}
	return engines(forgot)
}

// mayCount reports whether a vote that a node gave in this life, in a round that began at an instant, counts.
func (d *Driver) mayCount(n *node, name, life string, began time.Time) bool {
	r := n.lives()
	return counts(standing{
		same:      r.life == life,
		waited:    d.hasWaited(r, began),
		remembers: r.remembers(),
		filled:    d.memory.isFilled(name, n.at, life),
		forgetful: d.forgetful(),
	}, len(d.nodes))
}

// hasWaited reports whether all claims that a node may have forgotten had ended at an instant.
func (d *Driver) hasWaited(r record, at time.Time) bool {
	return r.life != "" && (d.unsafeFresh || at.Sub(r.born) >= d.traits.MaxTTL)
}
