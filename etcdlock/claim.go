package etcdlock

import (
	"context"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

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
	queue string // what the keys of the lock's queue begin with
	keys  string // what the key begins with, whichever client made it
	key   string
	tomb  string
	over  chan struct{} // closed when the claim has ended

	news    chan struct{} // has room for one, sent when what the claim waits for has changed
	waiting chan struct{} // holds a token while one Wait goes on; see wait.go
	self    *follow       // watches the key; guarded by waiting
	ahead   *follow       // watches what the claim waits for; guarded by waiting
	due     bool          // a look is due, whatever was read before; guarded by waiting

	mu       sync.Mutex
	lifetime context.Context // of the watches; nil until there is one
	cancel   context.CancelFunc

	lease   *lease
	notes   *lease // has a note of the end already, since the TTL was shortened; nil when there is none
	ttl     time.Duration
	longest time.Duration // the longest TTL that it had
	token   uint64        // zero until a request was answered
	doubt   bool          // a request was sent whose outcome is not known
	alone   bool          // it shares with nobody
	granted bool
	fits    fit // the bounds of it and those ahead when it was granted; zero until they are known
	revoked bool
	behind  bool // others were behind it at the last look
	verdict verdict
	read    int64 // revision of the newest reading
	until   instant
	leaving bool // it was not renewed in time, and is being taken out of the queue
	timer   *time.Timer
}

// known returns what is known of the claim with this ID.
func (d *Driver) known(id claimID) *claim {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.claims[id]
}

// enter notes a claim on this lease, or returns what is known of it already. key is its key if it has one.
func (d *Driver) enter(c driver.Claim, key string, token uint64, l *lease) *claim {
	d.mu.Lock()
	defer d.mu.Unlock()
	if e := d.claims[idOf(c)]; e != nil && !e.isOver() {
		return e
	}
	if key == "" {
		key = d.keys.claim(c.Name, c.ID) + hexLease(l.id)
	}
	e := &claim{
		d: d, name: c.Name, id: c.ID, queue: d.keys.queue(c.Name), keys: d.keys.claim(c.Name, c.ID), key: key, tomb: d.keys.tomb(c.Name, c.ID),
		over: make(chan struct{}), news: make(chan struct{}, 1), waiting: make(chan struct{}, 1), lease: l, ttl: c.TTL, token: token,
		alone: c.Weight == c.Limit,
	}
	d.claims[idOf(c)] = e
	e.live(c.TTL, now())
	d.shelf(leaseTime(c.TTL)) // for the note of its end
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

// end notes that the claim is over, and ends what watches it.
func (e *claim) end() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.isOver() {
		return
	}
	close(e.over)
	e.timer.Stop()
	if e.cancel != nil {
		e.cancel()
	}
}

// bury is end for a claim whose end the server keeps no note of, since its lease is gone: it is remembered here, for
// as long as a late request may come.
func (e *claim) bury() {
	e.end()
	e.keepNote()
	e.mu.Lock()
	defer e.mu.Unlock()
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

// isGone reports whether the claim has ended, and notes it when that is since its lease is gone.
func (e *claim) isGone() bool {
	if e.isOver() {
		return true
	}
	if !e.leased().isLost() {
		return false
	}
	e.bury()
	return true
}

func (e *claim) leased() *lease {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.lease
}

func (e *claim) tokenNow() uint64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.token
}

// answered notes the token that the server answered with. It never changes.
func (e *claim) answered(token uint64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.token = token
}

// doubted notes that a request may or may not have been applied.
func (e *claim) doubted() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.doubt = true
}

// seat is the claim as the queue has it, for when it was just put there.
func (e *claim) seat(r record, token uint64) seat {
	return seat{record: r, id: e.id, key: e.key, token: token, mod: int64(token), lease: e.leased().id}
}

// is compares the key with a claim that has this token.
func is(key string, token uint64) clientv3.Cmp {
	return clientv3.Compare(clientv3.CreateRevision(key), "=", int64(token))
}

// absent compares the key, or with an option all keys of a range, with none.
func absent(key string) clientv3.Cmp {
	return clientv3.Compare(clientv3.CreateRevision(key), "=", 0)
}

// present compares the keys that begin so with at least one.
func present(prefix string) clientv3.Cmp {
	return clientv3.Compare(clientv3.CreateRevision(prefix).WithPrefix(), ">", 0)
}
