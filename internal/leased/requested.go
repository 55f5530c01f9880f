package leased

import (
	"slices"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// A claim is what the engine knows of a claim that was requested through it.
type claim struct {
	Claim
	d         *Engine
	exclusive bool // it shares with nobody
	found     bool // it was in the queue when the engine came to know it: other clients may have sent requests of it

	mu     sync.Mutex
	place  string     // of its seat
	at     tenancy    // where it lives
	others []tenancy  // it may live in one of these, by a move that was not answered
	taken  []tenancy  // its places are to be given back
	kept   bool       // the store bars its ID for longer than it lives, because its TTL became shorter
	out    bool       // it would not wait, and its ID is being barred
	how    *Tombstone // how it ended, where the store does not remember that

	// Guarded by Engine.mu.
	following bool   // what happens to it is told
	granted   bool   // also once it is granted
	spots     []Spot // that are watched for it
	due       bool   // something has happened that no look has found yet
}

// enter notes a claim that lives, or is to live, in a place of a session, or returns what is known of it already.
func (d *Engine) enter(c driver.Claim, at tenancy, found *Seat) *claim {
	e, known := d.claims.Enter(c, func() *claim {
		e := &claim{d: d, exclusive: c.Weight == c.Limit, found: found != nil}
		e.at, e.place, e.taken = at, at.place, []tenancy{at}
		e.Begin(c, c.TTL, e.expire, func() { d.unfollow(e) })
		return e
	})
	if known {
		e.mu.Lock()
		same := e.at == at
		e.mu.Unlock()
		if !same {
			at.Give(at.place, true)
		}
	}
	if found != nil {
		e.mu.Lock()
		e.place = found.Place
		e.mu.Unlock()
		e.Answered(found.Token)
	}
	return e
}

// forget drops what is known of a claim that is not in the queue, and of whose end nobody need be told.
func (d *Engine) forget(e *claim) {
	d.claims.Forget(e)
	e.give()
}

// remember ends a claim whose end the store may not remember, and tells those who follow it.
func (d *Engine) remember(e *claim) {
	if e.IsLeaving() {
		return // what takes it out of the queue does so in the end
	}
	d.tellEnd(e)
	d.claims.Remember(e)
	e.give()
}

// give gives the places of a claim back that is out of the queue.
func (e *claim) give() {
	e.mu.Lock()
	taken := e.taken
	e.taken = nil
	e.mu.Unlock()
	for _, tn := range taken {
		tn.Give(tn.place, e.isClean())
	}
}

// isClean reports whether no copy of a request that queues the claim can be under way.
func (e *claim) isClean() bool { return !e.InDoubt() && !e.found }

// maybeQueued reports whether a request was sent that may have put the claim into the queue.
func (e *claim) maybeQueued() bool { return e.InDoubt() || e.Token() != 0 }

// isGone reports whether the claim has ended. One whose sessions have ended has, and that is noted.
func (e *claim) isGone() bool {
	if e.IsOver() {
		return true
	}
	if slices.ContainsFunc(e.tenancies(), tenancy.IsAlive) {
		return false
	}
	e.d.remember(e)
	return true
}

// tenancies are where the claim may live, in the order in which it moves from one to the other: who looks in this order
// finds it, also if it moves meanwhile.
func (e *claim) tenancies() []tenancy {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]tenancy{e.at}, e.others...)
}

func (e *claim) mayLiveIn(session int64) bool {
	return slices.ContainsFunc(e.tenancies(), func(tn tenancy) bool { return tn.ID() == session })
}

func (e *claim) tenancy() tenancy {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.at
}

func (e *claim) seatPlace() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.place
}

// moving notes that the claim may be moved to a session, to live for a TTL there. It reports false if the claim is
// over: what takes it out of the queue need not look there.
func (e *claim) moving(to tenancy, ttl time.Duration) bool {
	e.mu.Lock()
	if to != e.at {
		e.others, e.taken = append(e.others, to), append(e.taken, to)
	}
	e.mu.Unlock()
	return e.MayLive(ttl, Now())
}

// notMoved notes that it was not.
func (e *claim) notMoved(to tenancy) {
	e.mu.Lock()
	is := func(tn tenancy) bool { return tn == to }
	give := to != e.at && slices.ContainsFunc(e.taken, is)
	if give {
		e.others, e.taken = slices.DeleteFunc(e.others, is), slices.DeleteFunc(e.taken, is)
	}
	e.mu.Unlock()
	if give {
		to.Give(to.place, true)
	}
}

// moved notes where the claim lives. kept says that its ID is barred for longer than it lives.
func (e *claim) moved(to tenancy, kept bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.at, e.others, e.kept = to, nil, e.kept || kept
}

// keep is for how long the end of the claim has to be remembered, if the store does that ahead of the end.
func (e *claim) keep() time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.kept {
		return 0
	}
	return e.Longest()
}

// leaveOut notes that the claim is left out, whatever becomes of the step that does so.
func (e *claim) leaveOut() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.out = true
}

func (e *claim) isLeftOut() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.out
}

// step is a step about the claim.
func (e *claim) step(act Act) Step {
	return Step{Act: act, Name: e.Name, ID: e.ID, Place: e.seatPlace()}
}
