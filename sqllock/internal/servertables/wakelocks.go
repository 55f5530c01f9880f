package servertables

import (
	"context"
	"sync"

	"github.com/holdfast-go/holdfast/driver"
)

// wakeLocks are the wake locks that this client holds on a connection. They change only while their lane is busy with a
// request.
type wakeLocks struct {
	mu    sync.Mutex
	count int // of wake locks
	byID  map[string]wakeLock
	names map[string]int // by the name of a lock, for how many of its claims there are wake locks
}

// A wakeLock is what the client holds for a claim: a lock of the server that it releases when the claim ends, on
// which the waiter behind it sleeps. While a claim that shares its lock waits there is a second one, which is
// released when the claim is granted, because that may make the next one grantable too.
type wakeLock struct {
	name  string
	waits bool
}

func (l wakeLock) count() int {
	if l.waits {
		return 2
	}
	return 1
}

const (
	wakeAtEnd   = "end"
	wakeAtGrant = "wait"
)

// wanted reports whether the next request should take the wake locks of a claim, of which there may be so many.
func (w *wakeLocks) wanted(id string, most int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, held := w.byID[id]
	return !held && w.count < most
}

// held counts the wake locks of a claim: 2 with the one for its grant.
func (w *wakeLocks) held(id string) int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	wakeLock, held := w.byID[id]
	if !held {
		return 0
	}
	return int64(wakeLock.count())
}

// taken notes that a request has taken the wake locks of a claim.
func (w *wakeLocks) taken(c driver.Claim, granted bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.put(c.ID, wakeLock{name: c.Name, waits: !granted && c.Weight < c.Limit})
}

// forgetStale forgets the wake locks of a claim that an answer has shown to be stale, and returns which they are.
func (w *wakeLocks) forgetStale(id string, a answer) (which []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	old, held := w.byID[id]
	switch {
	case held && a.outcome == isGone:
		w.take(id)
		which = append(which, wakeAtEnd)
	case old.waits && a.status.Granted:
		w.put(id, wakeLock{name: old.name})
	default:
		return nil
	}
	if old.waits {
		which = append(which, wakeAtGrant)
	}
	return which
}

// isStale reports whether a wake lock of a claim has to be released.
func (w *wakeLocks) isStale(id string, a answer) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return a.outcome == isGone || a.outcome == isThere && a.status.Granted && w.byID[id].waits
}

// released notes that the routine which released a claim has released its wake locks.
func (w *wakeLocks) released(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.take(id)
}

func (w *wakeLocks) put(id string, one wakeLock) {
	if w.byID == nil {
		w.byID, w.names = make(map[string]wakeLock), make(map[string]int)
	}
	w.take(id)
	w.byID[id] = one
	w.names[one.name]++
	w.count += one.count()
}

func (w *wakeLocks) take(id string) {
	one, held := w.byID[id]
	if !held {
		return
	}
	delete(w.byID, id)
	w.count -= one.count()
	if w.names[one.name]--; w.names[one.name] == 0 {
		delete(w.names, one.name)
	}
}

// areFor reports whether there is one for a claim of a lock.
func (w *wakeLocks) areFor(name string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.names[name] > 0
}

// claims counts the claims that have wake locks.
func (w *wakeLocks) claims() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.byID)
}

// forget notes that the connection is gone, and the wake locks with it.
func (w *wakeLocks) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.byID, w.names, w.count = nil, nil, 0
}

// wakeLane is the lane that has wake locks of a claim, or nil.
func (p *pool) wakeLane(id string) *lane {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, l := range p.lanes {
		if l.wakeLocks.held(id) > 0 {
			return l
		}
	}
	return nil
}

// settle releases the wake locks that an answer about a claim has shown to be stale, in the background and in a turn of
// their own: nobody waits for that.
func (d *Driver) settle(c driver.Claim, a answer) {
	l := d.requests.wakeLane(c.ID)
	if l == nil || !l.wakeLocks.isStale(c.ID, a) {
		return
	}
	d.inBackground(func() {
		ctx, done := d.inPassing()
		defer done()
		inTurn(ctx, d.requests, affinity{lane: l}, func(ctx context.Context, l *lane) error {
			for _, which := range l.wakeLocks.forgetStale(c.ID, a) {
				if err := l.conn.run(ctx, "ring", c.ID, which); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// releaseElsewhere releases the wake locks of a claim that is over, if another lane has them than the one that ended
// it; and those of a claim that is left alone. Who renews such a claim takes them anew.
func (d *Driver) releaseElsewhere(c driver.Claim) { d.settle(c, answer{outcome: isGone}) }

// retake takes wake locks for claims that were renewed and have none: others have begun to wait for them since, or the
// connection with the wake locks broke, or another client had them. A request of each does that, and nobody waits for
// it.
func (d *Driver) retake(claims []driver.Claim) {
	if len(claims) == 0 || !d.retaking.CompareAndSwap(false, true) {
		return
	}
	d.inBackground(func() {
		defer d.retaking.Store(false)
		for _, c := range claims {
			ctx, done := d.inPassing()
			d.requestOnce(ctx, c, true)
			done()
		}
	})
}

// retakeMost bounds the claims for which wake locks are taken after a renewal: where none were to be had it tries again
// after the next.
const retakeMost = 32

// lacksWakeLocks reports whether a claim has no wake locks, and a lane has room for them.
func (p *pool) lacksWakeLocks(id string) (room bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, l := range p.lanes {
		if l.wakeLocks.held(id) > 0 {
			return false
		}
		room = room || l.wantsWakeLocks(id)
	}
	return room
}
