package quorum

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// events are what happens to claims and queues, and who is told. Its lock is innermost.
type events struct {
	mu      sync.Mutex
	tells   map[*func(driver.Event)]struct{}
	watched map[string]*time.Timer // by lock: its next change is told, or that WatchTime has passed
	hopeful map[string][]*claim    // by lock: those that hints are for
}

func newEvents() *events {
	return &events{
		tells:   make(map[*func(driver.Event)]struct{}),
		watched: make(map[string]*time.Timer),
		hopeful: make(map[string][]*claim),
	}
}

// Subscribe implements [driver.Driver]. What the nodes tell becomes an event that says "ask", because a majority
// decides what has happened.
func (d *Driver) Subscribe(tell func(driver.Event)) (stop func()) {
	es := d.events
	es.mu.Lock()
	defer es.mu.Unlock()
	es.tells[&tell] = struct{}{}
	return func() {
		es.mu.Lock()
		defer es.mu.Unlock()
		delete(es.tells, &tell)
	}
}

// tell passes an event on to all subscribers.
func (d *Driver) tell(e driver.Event) {
	if d.lifetime.Err() != nil {
		return
	}
	d.events.mu.Lock()
	tells := make([]func(driver.Event), 0, len(d.events.tells))
	for tell := range d.events.tells {
		tells = append(tells, *tell)
	}
	d.events.mu.Unlock()
	for _, tell := range tells {
		tell(e)
	}
}

// hear takes what a node tells. A node may tell under its own locks, so hear asks no node, and takes no lock under
// which one is asked.
func (d *Driver) hear(n *node, e driver.Event) {
	switch {
	case e.ID != "":
		if cl := d.claims.findOnNode(e.Name, e.ID); cl != nil {
			d.told(cl, n, e)
		}
	case e.Name != "":
		if name, ok := nameOf(e.Name); ok {
			d.changed(n, name)
		}
	default:
		for _, cl := range d.claims.all() {
			d.toldNothing(cl, n)
		}
		for _, name := range d.events.looked() {
			d.changed(n, name)
		}
	}
}

// told notes what a node tells of a claim. Whoever ended one that is held is about to reach the other nodes, all of
// which will be asked. Of one that waits the node that keeps its place in line says when it comes to be the first.
func (d *Driver) told(cl *claim, n *node, e driver.Event) {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	switch t := cl.turn; {
	case cl.state == held && e.Name == nodeName(cl.name) && e.ID == roundID(cl.id, cl.round):
		d.askIn(cl, breakTakes)
	case cl.state == held || t == nil || t.at != n.at || e.Name != t.claim.Name || e.ID != t.claim.ID:
	case e.Err == nil && e.Status.Granted:
		t.first = true
		d.ask(cl)
	default:
		d.askIn(cl, firstPause) // but not in a frenzy
	}
}

// toldNothing notes that anything may have happened to a claim on a node.
func (d *Driver) toldNothing(cl *claim, n *node) {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	if cl.state == held && cl.follow || cl.state != held && cl.turn != nil && cl.turn.at == n.at {
		d.askIn(cl, breakTakes)
	}
}

// changed passes on that the queue of a lock has changed on a node.
func (d *Driver) changed(n *node, name string) {
	hopeful, watched := d.events.take(name)
	for _, cl := range hopeful {
		d.freed(cl, n)
	}
	if watched {
		d.tell(driver.Event{Name: name})
	}
}

// take returns those that hints about a lock are for, and whether a change of its queue is to be told, which it is
// once.
func (es *events) take(name string) (hopeful []*claim, watched bool) {
	es.mu.Lock()
	defer es.mu.Unlock()
	late, watched := es.watched[name]
	if watched {
		late.Stop()
		delete(es.watched, name)
	}
	return slices.Clone(es.hopeful[name]), watched
}

// looked returns the locks of which somebody wants to know that their queue has changed.
func (es *events) looked() (names []string) {
	es.mu.Lock()
	defer es.mu.Unlock()
	for name := range es.watched {
		names = append(names, name)
	}
	for name := range es.hopeful {
		if es.watched[name] == nil {
			names = append(names, name)
		}
	}
	return names
}

// hope has hints for a claim passed on to it, until the function is called that it returns.
func (es *events) hope(cl *claim) (stop func()) {
	es.mu.Lock()
	defer es.mu.Unlock()
	es.hopeful[cl.name] = append(es.hopeful[cl.name], cl)
	return func() {
		es.mu.Lock()
		defer es.mu.Unlock()
		left := slices.DeleteFunc(es.hopeful[cl.name], func(other *claim) bool { return other == cl })
		if es.hopeful[cl.name] = left; len(left) == 0 {
			delete(es.hopeful, cl.name)
		}
	}
}

// close ends what would still be told.
func (es *events) close() {
	es.mu.Lock()
	defer es.mu.Unlock()
	for _, late := range es.watched {
		late.Stop()
	}
	clear(es.tells)
}

// findOnNode returns the claim that has this lock and this ID on a node, or its place in line, or nil. It finds none
// by an ID that was made shorter, which none of the core is; then renewals and the alarm tell.
func (cs *claims) findOnNode(onNode, id string) *claim {
	name, isTurn := strings.CutPrefix(onNode, turnName)
	if !isTurn {
		name, _ = nameOf(onNode)
	}
	cl := cs.find(driver.Claim{Name: name, ID: id})
	if cl == nil {
		cl = cs.find(driver.Claim{Name: name, ID: baseOf(id)})
	}
	return cl
}

// all returns what is known.
func (cs *claims) all() []*claim {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	all := make([]*claim, 0, len(cs.known))
	for _, cl := range cs.known {
		all = append(all, cl)
	}
	return all
}
