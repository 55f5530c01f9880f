package redislock

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// A notifier receives what the scripts tell this client about its claims. It keeps a mailbox for each claim that would wait, from
// its first request until it is released, and no goroutine.
type notifier struct {
	channels
	closed chan struct{}

	mu        sync.Mutex
	mailboxes map[string]*mailbox
	locks     map[string]int    // how many mailboxes there are for each lock
	watches   map[string]*watch // by the key of the claims
	sweepAt   int               // how many mailboxes there may be before those of dead claims are thrown away
}

// A mailbox holds the latest news of one claim until Wait collects it. It is not a driver.Mailbox, because several Waits for
// one claim all end with each news, and because one that the claim is gone is not replaced by an older grant.
type mailbox struct {
	news   driver.Status
	gone   bool
	again  bool // something may have been missed: ask
	filled bool
	wake   chan struct{} // closed by the next news, if somebody waits for it
	until  time.Time     // when the claim has long been dead
	lock   string        // whose claim it is
	told   bool          // the claim's record says where to tell of it

	listeners driver.Listeners // called with each news
}

// A watch wakes those that watch a queue, and is there while somebody does.
type watch struct {
	changed chan struct{}
	users   int
}

const (
	firstSweep  = 1024
	mailboxTTLs = 4 // how many TTLs after its last request a claim is dead, whatever the clocks
)

func emptyNotifier() *notifier {
	return &notifier{
		closed:    make(chan struct{}),
		mailboxes: make(map[string]*mailbox),
		locks:     make(map[string]int),
		watches:   make(map[string]*watch),
		sweepAt:   firstSweep,
	}
}

// newNotifier returns a notifier for a client with this id. channels is what the names of channels for all locks begin with, and
// keysOf finds those of a lock, in whose slot there may be a channel for it alone.
func newNotifier(conn Conn, channels string, keysOf func(lock string) (keys, error), id string) *notifier {
	p := emptyNotifier()
	if shards, ok := conn.(ShardListener); ok {
		p.channels = &lockChannels{id: id, subscriptions: make(map[string]*lockSubscription), used: p.hasMailboxes, open: func(lock string) *subscription {
			return subscribe(func(ctx context.Context, listening func()) error {
				k, err := keysOf(lock)
				if err != nil {
					return err
				}
				return shards.ListenShard(ctx, k.claims+":"+sharded+id, listening, p.heard)
			}, func() { p.askAgain(lock) })
		}}
		return p
	}
	p.channels = &clientChannel{id: id, open: func() *subscription {
		return subscribe(func(ctx context.Context, listening func()) error {
			return conn.Listen(ctx, channels+id, listening, p.heard)
		}, p.askAllAgain)
	}}
	return p
}

// askAllAgain tells all who wait to ask: what was sent before the subscription is lost.
func (p *notifier) askAllAgain() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, b := range p.mailboxes {
		b.askAgain()
	}
	for key := range p.watches {
		p.change(key)
	}
}

// askAgain is askAllAgain for those who wait for one lock. Others may be woken: to look for nothing does no harm.
func (p *notifier) askAgain(lock string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, b := range p.mailboxes {
		if b.lock == lock {
			b.askAgain()
		}
	}
	for key := range p.watches {
		p.change(key)
	}
}

func (b *mailbox) askAgain() {
	b.again = true
	b.fill()
}

// heard puts a message into its mailbox: 'g ID TOKEN TTL CONTENDED' (granted), 'v ...' (revoked), 'x ID' (ended) or 'w KEY'
// (the queue changed). Unknown ones are ignored: they are for claims that were released, or of a newer version.
func (p *notifier) heard(message string) {
	kind, rest, _ := strings.Cut(message, " ")
	p.mu.Lock()
	defer p.mu.Unlock()
	if kind == "w" {
		p.change(rest)
		return
	}
	f := strings.Fields(rest)
	if len(f) == 0 || p.mailboxes[f[0]] == nil {
		return
	}
	b := p.mailboxes[f[0]]
	switch st, ok := parseNews(kind, f); {
	case kind == "x":
		b.gone = true
	case ok:
		b.news = st
	default:
		b.again = true
	}
	b.fill()
}

func parseNews(kind string, f []string) (driver.Status, bool) {
	if len(f) < 4 || kind != "g" && kind != "v" {
		return driver.Status{}, false
	}
	token, err1 := strconv.ParseUint(f[1], 10, 64)
	ttl, err2 := strconv.ParseInt(f[2], 10, 64)
	return driver.Status{
		Token:     token,
		Granted:   true,
		TTL:       time.Duration(ttl) * time.Millisecond,
		Contended: f[3] == "1",
		Revoked:   kind == "v",
	}, err1 == nil && err2 == nil
}

func (b *mailbox) fill() {
	b.filled = true
	if b.wake != nil {
		close(b.wake)
		b.wake = nil
	}
	b.listeners.Call()
}

// take empties the mailbox.
func (b *mailbox) take() (driver.Status, error) {
	st, gone, again := b.news, b.gone, b.again
	*b = mailbox{until: b.until, wake: b.wake, lock: b.lock, told: b.told, listeners: b.listeners}
	switch {
	case gone:
		return driver.Status{}, driver.ErrGone
	case again:
		return driver.Status{}, nil
	}
	return st, nil
}

// expect prepares for the first request of a claim that would wait.
func (p *notifier) expect(ctx context.Context, c driver.Claim) error {
	if p.eager() {
		return p.ready(ctx, c.Name)
	}
	return nil
}

// extend keeps the mailbox of a claim that is about to be requested, and lives for another TTL then. A claim that would not
// wait has none until somebody waits for news of it.
func (p *notifier) extend(c driver.Claim) {
	told := p.address(c.Name) != nowhere
	until := deadAt(c)
	p.mu.Lock()
	defer p.mu.Unlock()
	b := p.mailboxes[c.ID]
	if b == nil && c.Queue {
		b = p.add(c, until)
	}
	if b != nil {
		b.until, b.told = until, b.told || told
	}
}

// untold listens for a claim whose record does not say where to tell of it, and reports whether it was one: then it must
// be requested again.
func (p *notifier) untold(ctx context.Context, c driver.Claim) (bool, error) {
	p.mu.Lock()
	b := p.mailboxes[c.ID]
	if b == nil {
		b = p.add(c, deadAt(c))
	}
	told := b.told
	p.mu.Unlock()
	if told {
		return false, nil
	}
	return true, p.ready(ctx, c.Name)
}

func (p *notifier) add(c driver.Claim, until time.Time) *mailbox {
	b := &mailbox{lock: c.Name, until: until}
	p.mailboxes[c.ID] = b
	p.locks[c.Name]++
	if len(p.mailboxes) > p.sweepAt {
		p.sweep()
	}
	return b
}

// deadAt is when a claim that is requested now has long been dead, unless it is requested again.
func deadAt(c driver.Claim) time.Time { return time.Now().Add(mailboxTTLs * c.TTL) }

func (p *notifier) hasMailboxes(lock string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.locks[lock] > 0
}

// sweep throws the mailboxes of dead claims away. It runs each time their number has doubled.
func (p *notifier) sweep() {
	now := time.Now()
	for id, b := range p.mailboxes {
		if b.wake == nil && b.until.Before(now) {
			p.remove(id, b)
		}
	}
	p.sweepAt = max(firstSweep, 2*len(p.mailboxes))
}

func (p *notifier) remove(id string, b *mailbox) {
	delete(p.mailboxes, id)
	if p.locks[b.lock]--; p.locks[b.lock] == 0 {
		delete(p.locks, b.lock)
	}
}

// forget throws the mailbox of an ended claim away. Who waits at it learns that the claim is gone.
func (p *notifier) forget(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if b := p.mailboxes[id]; b != nil {
		p.remove(id, b)
		b.gone = true
		b.fill()
	}
}

// wait returns the next news of a claim.
func (p *notifier) wait(ctx context.Context, id string) (driver.Status, error) {
	p.mu.Lock()
	b := p.mailboxes[id]
	if b == nil {
		p.mu.Unlock()
		return driver.Status{}, nil
	}
	if b.filled {
		defer p.mu.Unlock()
		return b.take()
	}
	if b.wake == nil {
		b.wake = make(chan struct{})
	}
	wake := b.wake
	p.mu.Unlock()
	select {
	case <-wake:
	case <-ctx.Done():
		return driver.Status{}, ctx.Err()
	case <-p.closed:
		return driver.Status{}, driver.ErrClosed
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return b.take()
}

// watching returns a channel that is closed when the queue with this key of claims changes, and what to call when nobody looks
// at that any more.
func (p *notifier) watching(key string) (changed <-chan struct{}, leave func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w := p.watches[key]
	if w == nil {
		w = &watch{changed: make(chan struct{})}
		p.watches[key] = w
	}
	w.users++
	return w.changed, func() { p.leave(key, w) }
}

func (p *notifier) leave(key string, w *watch) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if w.users--; w.users == 0 && p.watches[key] == w {
		delete(p.watches, key)
	}
}

func (p *notifier) change(key string) {
	if w := p.watches[key]; w != nil {
		close(w.changed)
		delete(p.watches, key)
	}
}

// close stops listening and ends all waits.
func (p *notifier) close() {
	p.mu.Lock()
	select {
	case <-p.closed:
	default:
		close(p.closed)
	}
	p.mu.Unlock()
	p.channels.close()
}
