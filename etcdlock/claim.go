package etcdlock

import (
	"context"
	"slices"
	"sync"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/leased"
)

// A claim is what this client knows of a claim that it requested.
type claim struct {
	leased.Claim
	d         *Driver
	queue     string // what the keys of the lock's queue begin with
	key       string
	tombstone string
	alone     bool // it shares with nobody

	// Guarded by leased.Claim.Alone.
	self  *watcher // watches the key
	ahead *watcher // watches what the claim waits for
	due   bool     // a look is due, whatever was read before

	mu            sync.Mutex
	place         *place // of the key; nil where another client made the key, or the claim has left it
	swept         bool   // see sweep
	lease         *lease
	others        []*lease           // it may be on one of these, by a request that was not answered
	leftOut       bool               // see isLeftOut
	maybeReleased bool               // a release was sent that may have been done
	notes         *lease             // keeps a tombstone that was left when the TTL became shorter; nil if none was
	lifetime      context.Context    // of the watches; nil until there is one
	stop          context.CancelFunc // ends it
}

// enter notes a claim on this lease, or returns what is known of it already. key is where another client has put
// it; empty for a claim that is to be put.
func (d *Driver) enter(c driver.Claim, key string, token uint64, l *lease) *claim {
	e, known := d.claims.Enter(c, func() *claim {
		e := &claim{
			d: d, queue: d.keys.queue(c.Name), key: key,
			tombstone: d.keys.tombstone(c.Name, c.ID), lease: l, alone: c.Weight == c.Limit,
		}
		if key == "" {
			e.place = l.places.take(e.queue)
			e.key = claimAt(e.queue, l.id, e.place.number)
		}
		e.Begin(c, c.TTL, e.expire, e.stopWatching)
		e.Answered(token)
		return e
	})
	if !known {
		d.prepareNotes(c.TTL) // for that of its end
	}
	return e
}

// rememberEnd ends a claim for which the server may have no tombstone, because its lease is gone. The end is
// remembered here, for as long as a late request may come.
func (e *claim) rememberEnd() {
	e.extendNote()
	e.d.claims.Remember(e)
	e.leavePlace()
}

// isGone reports whether the claim has ended. A claim whose lease is gone has, and that is noted.
func (e *claim) isGone() bool {
	if e.IsOver() {
		return true
	}
	if e.hasLease() {
		return false
	}
	e.rememberEnd()
	return true
}

// hasLease reports whether one of the leases that the claim may be on is not gone.
func (e *claim) hasLease() bool {
	return slices.ContainsFunc(e.leases(), func(l *lease) bool { return !l.isLost() })
}

// leases are those that the claim may be on, in the order in which it moves from one to the other: who looks at them in
// this order finds it, also if it moves meanwhile.
func (e *claim) leases() []*lease {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]*lease{e.lease}, e.others...)
}

func (e *claim) leased() *lease {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.lease
}

// seat is the claim as the queue has it when it was just put there.
func (e *claim) seat(r record, token uint64) seat {
	return seat{record: r, key: e.key, token: token, mod: int64(token), lease: e.leased().id}
}
