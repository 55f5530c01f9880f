package etcdlock

import (
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/internal/leased"
)

// places are the keys that a client has on one lease in the queues of locks. Each claim has one to itself, and the next
// claim uses it again: every key that ever was stays in the server's index until a compaction, and each request reads
// past those of its queue.
//
// A late copy of a message finds another claim at the key. It does nothing to that one: a request compares the note of
// its claim's end, and all else the token. Only an undo that knows no token goes by the key alone: that key is not used
// again as long as the lease lives. Nor is a key at which another client may have the claim.
type places struct {
	mu     sync.Mutex
	queues map[string]*numbers
}

// numbers are those of the places in one queue.
type numbers struct {
	next int   // all below were taken once
	free []int // taken by nobody
}

// A place is the right to one key.
type place struct {
	places *places
	queue  string
	number int
}

// take returns a place that nobody has.
func (ps *places) take(queue string) *place {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	ns := ps.queues[queue]
	if ns == nil {
		if ps.queues == nil {
			ps.queues = make(map[string]*numbers)
		}
		ns = &numbers{}
		ps.queues[queue] = ns
	}
	return &place{ps, queue, ns.take()}
}

func (ns *numbers) take() (number int) {
	if last := len(ns.free) - 1; last >= 0 {
		number, ns.free = ns.free[last], ns.free[:last]
		return number
	}
	ns.next++
	return ns.next - 1
}

// giveBack gives the place to the next claim. Nothing is kept of a queue in which nobody has one.
func (p *place) giveBack() {
	p.places.mu.Lock()
	defer p.places.mu.Unlock()
	ns := p.places.queues[p.queue]
	ns.free = append(ns.free, p.number)
	if len(ns.free) == ns.next {
		delete(p.places.queues, p.queue)
	}
}

// sweep notes that a step is about to be sent that takes out whatever is at the key.
func (e *claim) sweep() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.swept = true
}

// isSwept reports whether such a step was sent.
func (e *claim) isSwept() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.swept
}

// hasPlace reports whether this client put the claim at its key, and the claim has not left it.
func (e *claim) hasPlace() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.place != nil
}

// dropPlace takes the place from the claim. It stays taken until it is given back.
func (e *claim) dropPlace() *place {
	e.mu.Lock()
	defer e.mu.Unlock()
	p := e.place
	e.place = nil
	return p
}

// leavePlace gives the place of a claim that has ended to others, once its request is not late any more. That of a
// claim that was swept is given to nobody: a server that was cut off may pass a step on that is older than any TTL.
func (e *claim) leavePlace() {
	if p := e.dropPlace(); p != nil && !e.isSwept() {
		time.AfterFunc(e.Longest()+leased.TombstoneGrace, p.giveBack)
	}
}

// leavePlaceNow is leavePlace where no request can be late.
func (e *claim) leavePlaceNow() {
	if p := e.dropPlace(); p != nil && !e.isSwept() {
		p.giveBack()
	}
}

// forget ends a claim that is not in the queue, and drops what is known of it.
func (d *Driver) forget(e *claim) {
	d.claims.Forget(e)
	if e.maybeQueued() {
		e.leavePlace()
	} else {
		e.leavePlaceNow()
	}
}

// forgetReleased is forget for a claim that was released by its token, which was answered.
func (d *Driver) forgetReleased(e *claim) {
	d.claims.Forget(e)
	e.leavePlaceNow()
}
