package quorum

import (
	"context"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// Bounds of listening.
const (
	firstListen = 50 * time.Millisecond // until a node that did not listen is asked again; each time twice as long
	breakTakes  = 20 * time.Millisecond // to reach the other nodes
)

// Listen implements [driver.Listener]. It listens on all nodes that have the claim: whoever ends the claim does so on a
// majority, and every majority has a node with the claim. Between changes that takes no goroutine. A node that cannot
// listen is left out, and renewals take its place.
func (d *Driver) Listen(_ context.Context, c driver.Claim, moved func()) (stop func(), err error) {
	cl := d.claims.find(c)
	if cl == nil {
		moved()
		return func() {}, nil
	}
	l := &listener{d: d, cl: cl, moved: moved, pause: firstListen, at: make([]listening, len(d.nodes))}
	unlisten := context.AfterFunc(cl.alive, moved)
	d.spawn(l.extend)
	return func() {
		unlisten()
		l.end()
	}, nil
}

// A listener is told of one claim by several nodes.
type listener struct {
	d     *Driver
	cl    *claim
	moved func()

	mu    sync.Mutex
	over  bool
	at    []listening   // by node
	again *time.Timer   // calls extend
	pause time.Duration // until then
}

// listening is that one node listens. The zero value is that it does not.
type listening struct {
	id   string // of the claim there
	stop func()
}

// extend has all nodes listen that have the claim and do not listen yet. It comes back, because nodes that are away
// return, and others are given the claim.
func (l *listener) extend(ctx context.Context) {
	for at, c := range l.cl.onNodes() {
		l.listenAt(ctx, at, c)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over || l.cl.alive.Err() != nil {
		return
	}
	l.pause = min(2*l.pause, longWait)
	l.again = time.AfterFunc(l.pause, func() { l.d.spawn(l.extend) })
}

// listenAt has one node listen. A node that does not answer is passed over: the others tell as well.
func (l *listener) listenAt(ctx context.Context, at int, c driver.Claim) {
	n := l.d.nodes[at]
	nd := n.opened()
	if nd == nil || n.inDoubt() || l.hears(at, c.ID) {
		return
	}
	nodes, listens := driver.As[driver.Listener](nd)
	if !listens {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, l.d.patience(c.TTL))
	defer cancel()
	stop, err := nodes.Listen(ctx, c, l.told)
	if err != nil {
		return
	}
	l.keep(at, listening{c.ID, stop})
}

// hears reports whether a node listens for a claim of this ID, or nobody needs to.
func (l *listener) hears(at int, id string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.over || l.at[at].id == id
}

// keep notes that a node listens, in place of what it did before.
func (l *listener) keep(at int, now listening) {
	l.mu.Lock()
	before, over := l.at[at], l.over
	if !over {
		l.at[at] = now
	}
	l.mu.Unlock()
	if over {
		now.stop()
	} else if before.stop != nil {
		before.stop()
	}
}

// told is called by a node. Whoever ended the claim there is about to reach the other nodes, of which the caller asks
// all.
func (l *listener) told() { time.AfterFunc(breakTakes, l.moved) }

// end lets no node listen any more.
func (l *listener) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return
	}
	l.over = true
	if l.again != nil {
		l.again.Stop()
	}
	for _, at := range l.at {
		if at.stop != nil {
			at.stop()
		}
	}
}

// onNodes returns the claim as the nodes know it that have it, by node.
func (cl *claim) onNodes() map[int]driver.Claim {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	claims := make(map[int]driver.Claim)
	for at, token := range cl.held {
		if token != 0 {
			c := cl.onNode()
			c.Token = token
			claims[at] = c
		}
	}
	return claims
}
