package redislock

import (
	"strings"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// An inbox passes on what the scripts tell this client: about each claim that it follows, from its first request until
// it is released, and about each queue that somebody watches. It needs no goroutine, and sends nothing.
type inbox struct {
	mu       sync.Mutex
	claims   map[string]*followed // by the ID of the claim
	perLock  map[string]int       // how many of them there are for each lock
	tells    map[*func(driver.Event)]struct{}
	lookOuts map[string]*lookOut // by the key of the claims
	doubts   bool                // grants that are told may not count yet: the server must be asked
	sweepAt  int                 // how many claims there may be before the dead ones are thrown away
}

// A followed claim is one of which this client wants to know what happens to it. The mutex of the inbox guards it.
type followed struct {
	lock  string    // whose claim it is
	until time.Time // when the claim has long been dead

	// addressed says that the claim's record names the channel on which this client listens. Until it does, nothing
	// that happens to the claim arrives here.
	addressed bool
	always    bool // also while it is granted
}

// watchFor is how long the server remembers that somebody watches a queue; then those who watch are told to look.
const watchFor = 20 * time.Second

const (
	firstSweep = 1024
	deadTTLs   = 4 // how many TTLs after its last request a claim is dead, whatever the clocks
)

func newInbox() *inbox {
	return &inbox{
		claims: make(map[string]*followed), perLock: make(map[string]int),
		tells: make(map[*func(driver.Event)]struct{}), lookOuts: make(map[string]*lookOut),
		sweepAt: firstSweep,
	}
}

// deliver passes a message on. One about a claim that is not followed is for a claim that was released.
func (in *inbox) deliver(text string) {
	kind, rest, _ := strings.Cut(text, " ")
	in.mu.Lock()
	defer in.mu.Unlock()
	if kind == queueChanged {
		in.tellChange(rest)
		return
	}
	id, st, err := parseMessage(kind, rest)
	if in.doubts {
		st = driver.Status{}
	}
	if f := in.claims[id]; f != nil {
		in.tell(driver.Event{Name: f.lock, ID: id, Status: st, Err: err})
	}
}

// askAll has every claim and every watched queue asked about: what was sent while nobody listened is lost.
func (in *inbox) askAll() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.tell(driver.Event{})
	for key := range in.lookOuts {
		in.tellChange(key)
	}
}

// askLock is askAll for one lock.
func (in *inbox) askLock(lock string) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.askThose(func(f *followed) bool { return f.lock == lock })
	for key, l := range in.lookOuts {
		if l.lock == lock {
			in.tellChange(key)
		}
	}
}

// askUnaddressed has those ask about a lock, or about any, whose records do not say yet where to tell of them.
func (in *inbox) askUnaddressed(lock string) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.askThose(func(f *followed) bool { return f.always && !f.addressed && (lock == "" || f.lock == lock) })
}

// askClaim has a claim asked about, if it is followed.
func (in *inbox) askClaim(id string) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if f := in.claims[id]; f != nil {
		in.tell(driver.Event{Name: f.lock, ID: id})
	}
}

// askThose has some claims asked about, to which something may have happened. mu is held.
func (in *inbox) askThose(concerns func(*followed) bool) {
	for id, f := range in.claims {
		if concerns(f) {
			in.tell(driver.Event{Name: f.lock, ID: id})
		}
	}
}

// extend follows a claim that is about to be requested, and will live for another TTL. addressed says that the request
// names the channel of this client. A claim that would not wait is followed only if always says so.
func (in *inbox) extend(c driver.Claim, always, addressed bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	f := in.claims[c.ID]
	if f == nil && (c.Queue || always) {
		f = in.add(c)
	}
	if f != nil {
		f.until, f.addressed, f.always = deadAt(c), f.addressed || addressed, f.always || always
	}
}

// hears reports whether the record of a claim names the channel of this client.
func (in *inbox) hears(id string) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	f := in.claims[id]
	return f != nil && f.addressed
}

// add begins to follow a claim. mu is held.
func (in *inbox) add(c driver.Claim) *followed {
	f := &followed{lock: c.Name, until: deadAt(c)}
	in.claims[c.ID] = f
	in.perLock[c.Name]++
	if len(in.claims) > in.sweepAt {
		in.sweep()
	}
	return f
}

// deadAt is when a claim that is requested now has long been dead, unless it is requested again.
func deadAt(c driver.Claim) time.Time { return time.Now().Add(deadTTLs * c.TTL) }

// sweep forgets dead claims: a caller that crashed while it waited never releases. It runs each time their number has
// doubled, so that each claim pays for a constant share. mu is held.
func (in *inbox) sweep() {
	now := time.Now()
	for id, f := range in.claims {
		if f.until.Before(now) {
			in.remove(id, f)
		}
	}
	in.sweepAt = max(firstSweep, 2*len(in.claims))
}

// remove ends following a claim. mu is held.
func (in *inbox) remove(id string, f *followed) {
	delete(in.claims, id)
	if in.perLock[f.lock]--; in.perLock[f.lock] == 0 {
		delete(in.perLock, f.lock)
	}
}

// forget ends following a claim.
func (in *inbox) forget(id string) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if f := in.claims[id]; f != nil {
		in.remove(id, f)
	}
}

// expects reports whether there are claims on a lock of which something may arrive.
func (in *inbox) expects(lock string) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.perLock[lock] > 0
}

// close ends telling.
func (in *inbox) close() {
	in.mu.Lock()
	defer in.mu.Unlock()
	clear(in.tells)
	for _, l := range in.lookOuts {
		l.expiry.Stop()
	}
	clear(in.lookOuts)
}
