package zklock

import (
	"fmt"
	"sync"

	"github.com/go-zookeeper/zk"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/leased"
)

// A claim is what this client knows of a claim that it requested.
type claim struct {
	leased.Claim
	d     *Driver
	s     *session
	queue string // path of the lock's queue
	note  string // path of the claim's note

	// Guarded by leased.Claim.Alone.
	ahead  *watch // what the claim waits for
	second *watch // what that waits for, where the verdict names it

	mu     sync.Mutex
	record record // what was written to the note
	node   string // name of the claim's node; empty until that is known
	self   <-chan zk.Event
	cause  error // what ended it with its session; nil when something else did, or nothing has
}

// enter notes a claim in this session, or returns what is known of it already.
func (d *Driver) enter(c driver.Claim, s *session) *claim {
	e, known := d.claims.Enter(c, func() *claim {
		e := &claim{
			d: d, s: s, queue: d.keys.queue(c.Name), note: d.keys.note(c.Name, c.ID), record: d.newRecord(c, s.ttl),
		}
		e.Begin(c, s.ttl, e.expire, nil)
		return e
	})
	if known && e.s != s {
		s.room.give(e.seatKey(), e.note)
	}
	return e
}

// seatKey stands for the claim's node in the room of its session.
func (e *claim) seatKey() string { return seatKey(e.queue, e.ID) }

// forgetAll drops what is known of a claim that has no nodes in its session.
func (d *Driver) forgetAll(e *claim) {
	d.claims.Forget(e)
	e.s.room.give(e.seatKey(), e.note)
}

// rememberEnd ends a claim for which the server may have no tombstone. The end is remembered here, for as long as
// a late request may come. The node is gone; the note may be there, and is swept later.
func (e *claim) rememberEnd() {
	e.noteCause()
	e.End() // before its listeners look
	e.s.subscriptions.notify(e.place())
	e.s.room.give(e.seatKey())
	e.s.tombstones.add(e.note, e.Longest())
	e.d.claims.Remember(e)
}

// noteCause notes what ended the claim, where that is the end of its session.
func (e *claim) noteCause() {
	if e.IsOver() || !e.s.isLost() {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.cause = e.s.lossError()
}

// goneError is [driver.ErrGone] for a claim that has ended, with the cause if that is known.
func (e *claim) goneError() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.cause == nil {
		return driver.ErrGone
	}
	return fmt.Errorf("%w: %w", driver.ErrGone, e.cause)
}

// isGone reports whether the claim has ended. A claim whose session is gone has, and that is noted.
func (e *claim) isGone() bool {
	if e.IsOver() {
		return true
	}
	if !e.s.isLost() {
		return false
	}
	e.rememberEnd()
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

// maybeQueued reports whether a request was sent that may have put the claim into the queue.
func (e *claim) maybeQueued() bool { return e.InDoubt() || e.place() != "" }
