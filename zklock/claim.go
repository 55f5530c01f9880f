package zklock

import (
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/holdfast-go/holdfast/driver"
)

// A claimID is what tells claims apart.
type claimID struct{ name, id string }

func idOf(c driver.Claim) claimID { return claimID{c.Name, c.ID} }

// A claim is what this client knows of a claim that it requested. It exists from before the first request is sent
// until the claim has ended.
type claim struct {
	d     *Driver
	name  string
	id    string
	s     *session
	queue string        // path of the lock's queue
	note  string        // path of the claim's note
	over  chan struct{} // closed when the claim has ended

	news    chan struct{} // has room for one, sent when what the claim waits for has changed
	waiting chan struct{} // holds a token while one Wait goes on; see wait.go
	ahead   *watch        // what the claim waits for; guarded by waiting

	mu        sync.Mutex
	record    record // what was written to the note
	node      string // name of the claim's node; empty until that is known
	token     uint64 // zero until that is known
	doubt     bool   // a request was sent whose outcome is not known
	self      <-chan zk.Event
	granted   bool
	revoked   bool
	disturbed bool // the node has changed: others may have renewed the claim
	behind    bool // others were behind it at the last look
	verdict   verdict
	ttl       time.Duration
	longest   time.Duration // the longest TTL that it had
	until     instant
	leaving   bool // it was not renewed in time, and is being taken out of the queue
	timer     *time.Timer
}

// known returns what is known of the claim with this ID.
func (d *Driver) known(id claimID) *claim {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.claims[id]
}

// enter notes a claim in this session, or returns what is known of it already.
func (d *Driver) enter(c driver.Claim, s *session) *claim {
	d.mu.Lock()
	defer d.mu.Unlock()
	if e := d.claims[idOf(c)]; e != nil && !e.isOver() {
		if e.s != s {
			s.room.give(e.seatKey(), e.note)
		}
		return e
	}
	e := &claim{
		d: d, name: c.Name, id: c.ID, s: s, queue: d.keys.queue(c.Name), note: d.keys.note(c.Name, c.ID),
		over: make(chan struct{}), news: make(chan struct{}, 1), waiting: make(chan struct{}, 1),
		record: d.newRecord(c, s.ttl), ttl: s.ttl,
	}
	d.claims[idOf(c)] = e
	e.live(s.ttl, now())
	return e
}

// forget drops what is known of a claim.
func (d *Driver) forget(e *claim) {
	e.end()
	d.mu.Lock()
	defer d.mu.Unlock()
	id := claimID{e.name, e.id}
	if d.claims[id] == e {
		delete(d.claims, id)
	}
}

// end notes that the claim is over.
func (e *claim) end() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.isOver() {
		return
	}
	close(e.over)
	e.timer.Stop()
}

// seatKey stands for the claim's node in the room of its session.
func (e *claim) seatKey() string { return seatKey(e.queue, e.id) }

// leave is forget for a claim that has no nodes in its session.
func (d *Driver) leave(e *claim) {
	d.forget(e)
	e.s.room.give(e.seatKey(), e.note)
}

// bury is end for a claim of whose end the server may have no note: it is remembered here, for as long as a late request
// may come. Its node is gone, and the note that there may be is swept.
func (e *claim) bury() {
	e.end()
	e.s.ears.hear(e.place())
	e.s.room.give(e.seatKey())
	e.mu.Lock()
	defer e.mu.Unlock()
	e.s.tombs.add(e.note, e.longest)
	e.timer = time.AfterFunc(e.longest+tombGrace, func() { e.d.forget(e) })
}

func (e *claim) isOver() bool {
	select {
	case <-e.over:
		return true
	default:
		return false
	}
}

// isGone reports whether the claim has ended, and notes it when that is since its session has.
func (e *claim) isGone() bool {
	if e.isOver() {
		return true
	}
	if !e.s.isLost() {
		return false
	}
	e.bury()
	return true
}

// place is the path of the claim's node; empty when that is not known.
func (e *claim) place() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.node == "" {
		return ""
	}
	return e.queue + "/" + e.node
}

// placed notes the claim's node.
func (e *claim) placed(node string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.node = node
}

func (e *claim) tokenNow() uint64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.token
}

func (e *claim) ttlNow() time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.ttl
}

func (e *claim) longestNow() time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.longest
}

func (e *claim) isGranted() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.granted
}

// doubted notes that a request may or may not have been applied.
func (e *claim) doubted() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.doubt = true
}

func (e *claim) inDoubt() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.doubt || e.node != ""
}
