package leased

import (
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// An Entry is a driver's type that embeds [Claim], or rather a pointer to it.
type Entry interface {
	comparable
	core() *Claim
}

// Claims are the claims that a client requested, by their IDs. The zero value is ready for use.
type Claims[E Entry] struct {
	mu   sync.Mutex
	byID map[claimID]E
}

// Known returns what is known of a claim; nil when nothing is.
func (cs *Claims[E]) Known(c driver.Claim) E {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	return cs.byID[idOf(c)]
}

// Enter returns what is known of a claim, or notes what begin returns, which has begun. What is known of a claim
// that is over does not count.
func (cs *Claims[E]) Enter(c driver.Claim, begin func() E) (e E, known bool) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if e, known := cs.byID[idOf(c)]; known && !e.core().IsOver() {
		return e, true
	}
	if cs.byID == nil {
		cs.byID = make(map[claimID]E)
	}
	e = begin()
	cs.byID[idOf(c)] = e
	return e, false
}

// Forget ends a claim, and drops what is known of it.
func (cs *Claims[E]) Forget(e E) {
	c := e.core()
	c.End()
	cs.mu.Lock()
	defer cs.mu.Unlock()
	id := claimID{c.Name, c.ID}
	if cs.byID[id] == e {
		delete(cs.byID, id)
	}
}

// Remember ends a claim of whose end the server may keep no note. It is remembered here, for as long as a late
// request may come, and then forgotten.
func (cs *Claims[E]) Remember(e E) {
	c := e.core()
	c.End()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.timer.Stop() // of an earlier call, which may know of a shorter TTL
	c.timer = time.AfterFunc(c.longest+TombstoneGrace, func() { cs.Forget(e) })
}

// Stop lets no claim expire, and forgets none, from now on. It is for the end of the driver.
func (cs *Claims[E]) Stop() {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	for _, e := range cs.byID {
		c := e.core()
		c.mu.Lock()
		c.timer.Stop()
		c.mu.Unlock()
	}
}
