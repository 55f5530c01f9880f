package redislock

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// An inbox keeps what the scripts tell this client: in a mailbox for each claim that would wait, from its first
// request until it is released, and in a watch for each queue that somebody looks at. It needs no goroutine, and
// sends nothing.
type inbox struct {
	closed chan struct{}

	mu        sync.Mutex
	mailboxes map[string]*mailbox // by the ID of the claim
	perLock   map[string]int      // how many mailboxes there are for each lock
	watches   map[string]*watch   // by the key of the claims
	tells     map[*func(driver.Event)]struct{}
	lookOuts  map[string]*lookOut // by the key of the claims
	doubts    bool                // grants that are told may not count yet: the server must be asked
	sweepAt   int                 // how many mailboxes there may be before those of dead claims are thrown away
}

// A watch wakes those that watch a queue, and is there while somebody does.
type watch struct {
	changed chan struct{}
	users   int
}

// watchFor is how long the server remembers that somebody watches a queue; then Watch returns, and the caller looks
// again.
const watchFor = 20 * time.Second

const (
	firstSweep  = 1024
	mailboxTTLs = 4 // how many TTLs after its last request a claim is dead, whatever the clocks
)

func newInbox() *inbox {
	return &inbox{
		closed:    make(chan struct{}),
		mailboxes: make(map[string]*mailbox),
		perLock:   make(map[string]int),
		watches:   make(map[string]*watch),
		tells:     make(map[*func(driver.Event)]struct{}),
		lookOuts:  make(map[string]*lookOut),
		sweepAt:   firstSweep,
	}
}

// deliver puts a message where it belongs. One without a mailbox is ignored: it is for a claim that was released.
func (in *inbox) deliver(text string) {
	kind, rest, _ := strings.Cut(text, " ")
	in.mu.Lock()
	defer in.mu.Unlock()
	if kind == queueChanged {
		in.change(rest)
		in.tellChange(rest)
		return
	}
	id, m := parseMessage(kind, rest)
	if b := in.mailboxes[id]; b != nil {
		b.put(m)
		in.tellNews(id, b, m)
	}
}

// askAll has all ask the server who wait: what was sent while nobody listened is lost.
func (in *inbox) askAll() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.tell(driver.Event{})
	for key := range in.lookOuts {
		in.tellChange(key)
	}
	in.askThose(func(*mailbox) bool { return true })
}

// askLock is askAll for those who wait for one lock.
func (in *inbox) askLock(lock string) {
	in.mu.Lock()
	defer in.mu.Unlock()
	concerns := func(b *mailbox) bool { return b.lock == lock }
	in.tellThose(concerns)
	for key, l := range in.lookOuts {
		if l.lock == lock {
			in.tellChange(key)
		}
	}
	in.askThose(concerns)
}

// askUnaddressed has those ask about a lock, or about any, whose records do not say yet where to tell of them.
func (in *inbox) askUnaddressed(lock string) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.tellThose(func(b *mailbox) bool { return b.follow && !b.addressed && (lock == "" || b.lock == lock) })
}

// tellThose tells that something may have happened to some claims. mu is held.
func (in *inbox) tellThose(concerns func(*mailbox) bool) {
	for id, b := range in.mailboxes {
		if concerns(b) {
			in.tell(driver.Event{Name: b.lock, ID: id})
		}
	}
}

// askThose wakes all watches whatever the claims are: to look for nothing does no harm. mu is held.
func (in *inbox) askThose(concerns func(*mailbox) bool) {
	for _, b := range in.mailboxes {
		if concerns(b) {
			b.put(message{ask: true})
		}
	}
	for key := range in.watches {
		in.change(key)
	}
}

// extend keeps the mailbox of a claim that is about to be requested, and will live for another TTL. addressed says
// that the request names the channel of this client. A claim that would not wait has no mailbox until somebody waits
// for it, or follows it.
func (in *inbox) extend(c driver.Claim, follow, addressed bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	b := in.mailboxes[c.ID]
	if b == nil && (c.Queue || follow) {
		b = in.add(c)
	}
	if b != nil {
		b.until, b.addressed, b.follow = deadAt(c), b.addressed || addressed, b.follow || follow
	}
}

// hears reports whether the record of a claim names the channel of this client.
func (in *inbox) hears(id string) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	b := in.mailboxes[id]
	return b != nil && b.addressed
}

// isAddressed reports whether the record of a claim names the channel of this client. From now on there is a mailbox
// for it.
func (in *inbox) isAddressed(c driver.Claim) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	b := in.mailboxes[c.ID]
	if b == nil {
		b = in.add(c)
	}
	return b.addressed
}

// add makes the mailbox of a claim. mu is held.
func (in *inbox) add(c driver.Claim) *mailbox {
	b := &mailbox{lock: c.Name, until: deadAt(c)}
	in.mailboxes[c.ID] = b
	in.perLock[c.Name]++
	if len(in.mailboxes) > in.sweepAt {
		in.sweep()
	}
	return b
}

// deadAt is when a claim that is requested now has long been dead, unless it is requested again.
func deadAt(c driver.Claim) time.Time { return time.Now().Add(mailboxTTLs * c.TTL) }

// sweep throws the mailboxes of dead claims away: who crashed while it waited never releases. It runs each time their
// number has doubled, so that each claim pays for a constant share. mu is held.
func (in *inbox) sweep() {
	now := time.Now()
	for id, b := range in.mailboxes {
		if b.wake == nil && b.until.Before(now) {
			in.remove(id, b)
		}
	}
	in.sweepAt = max(firstSweep, 2*len(in.mailboxes))
}

// remove throws a mailbox away. mu is held.
func (in *inbox) remove(id string, b *mailbox) {
	delete(in.mailboxes, id)
	if in.perLock[b.lock]--; in.perLock[b.lock] == 0 {
		delete(in.perLock, b.lock)
	}
}

// forget throws the mailbox of an ended claim away. Whoever waits for news of it learns that the claim is gone.
func (in *inbox) forget(id string) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if b := in.mailboxes[id]; b != nil {
		in.remove(id, b) // first, so that whoever is woken by the message finds no mailbox when it waits again
		b.put(message{ended: true})
	}
}

// expects reports whether there are claims on a lock of which something may arrive.
func (in *inbox) expects(lock string) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.perLock[lock] > 0
}

// wait returns what arrives next about a claim.
func (in *inbox) wait(ctx context.Context, id string) (driver.Status, error) {
	in.mu.Lock()
	b := in.mailboxes[id]
	if b == nil {
		in.mu.Unlock()
		return driver.Status{}, nil
	}
	if b.full {
		defer in.mu.Unlock()
		return b.take()
	}
	wake := b.waking()
	in.mu.Unlock()
	select {
	case <-wake:
	case <-ctx.Done():
		return driver.Status{}, ctx.Err()
	case <-in.closed:
		return driver.Status{}, driver.ErrClosed
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	return b.take()
}

// attach has moved called with all that arrives about a claim. missed says that something has already, or that the
// claim has ended.
func (in *inbox) attach(id string, moved func()) (stop func(), missed bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	b := in.mailboxes[id]
	if b == nil {
		return func() {}, true
	}
	remove := b.listeners.Add(moved)
	return func() {
		in.mu.Lock()
		defer in.mu.Unlock()
		remove()
	}, b.full
}

// watching returns a channel that is closed when the queue with this key of claims changes, and what to call when
// nobody looks at that any more.
func (in *inbox) watching(key string) (changed <-chan struct{}, leave func()) {
	in.mu.Lock()
	defer in.mu.Unlock()
	w := in.watches[key]
	if w == nil {
		w = &watch{changed: make(chan struct{})}
		in.watches[key] = w
	}
	w.users++
	return w.changed, func() { in.leave(key, w) }
}

func (in *inbox) leave(key string, w *watch) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if w.users--; w.users == 0 && in.watches[key] == w {
		delete(in.watches, key)
	}
}

// change wakes those who watch a queue. Each of them looks, and watches anew. mu is held.
func (in *inbox) change(key string) {
	if w := in.watches[key]; w != nil {
		close(w.changed)
		delete(in.watches, key) // the next to watch makes a new one: a closed channel would wake it at once
	}
}

// close ends all waits.
func (in *inbox) close() {
	in.mu.Lock()
	defer in.mu.Unlock()
	select {
	case <-in.closed:
	default:
		close(in.closed)
	}
	clear(in.tells)
	for _, l := range in.lookOuts {
		l.expiry.Stop()
	}
	clear(in.lookOuts)
}
