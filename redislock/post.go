package redislock

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// A post receives what the scripts tell this client about its claims. It keeps a box for each claim that would wait, from
// its first request until it is released, and no goroutine.
type post struct {
	hearing
	closed chan struct{}

	mu      sync.Mutex
	boxes   map[string]*box
	locks   map[string]int    // how many boxes there are for each lock
	watches map[string]*watch // by the key of the claims
	sweepAt int               // how many boxes there may be before those of dead claims are thrown away
}

// A box holds the latest news of one claim until Wait collects it.
type box struct {
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
	firstSweep = 1024
	boxTTLs    = 4 // how many TTLs after its last request a claim is dead, whatever the clocks
)

func emptyPost() *post {
	return &post{
		closed:  make(chan struct{}),
		boxes:   make(map[string]*box),
		locks:   make(map[string]int),
		watches: make(map[string]*watch),
		sweepAt: firstSweep,
	}
}

// newPost returns a post for a client with this id. channels is what the names of channels for all locks begin with, and
// keysOf finds those of a lock, in whose slot there may be a channel for it alone.
func newPost(conn Conn, channels string, keysOf func(lock string) (keys, error), id string) *post {
	p := emptyPost()
	if shards, ok := conn.(ShardListener); ok {
		p.hearing = &channelPerLock{id: id, ears: make(map[string]*lockEar), used: p.hasBoxes, open: func(lock string) *ear {
			return openEar(func(ctx context.Context, listening func()) error {
				k, err := keysOf(lock)
				if err != nil {
					return err
				}
				return shards.ListenShard(ctx, k.claims+":"+sharded+id, listening, p.heard)
			}, func() { p.askAgain(lock) })
		}}
		return p
	}
	p.hearing = &oneChannel{id: id, open: func() *ear {
		return openEar(func(ctx context.Context, listening func()) error {
			return conn.Listen(ctx, channels+id, listening, p.heard)
		}, p.askAllAgain)
	}}
	return p
}

// askAllAgain tells all who wait to ask: what was sent before the subscription is lost.
func (p *post) askAllAgain() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, b := range p.boxes {
		b.askAgain()
	}
	for key := range p.watches {
		p.change(key)
	}
}

// askAgain is askAllAgain for those who wait for one lock. Others may be woken: to look for nothing does no harm.
func (p *post) askAgain(lock string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, b := range p.boxes {
		if b.lock == lock {
			b.askAgain()
		}
	}
	for key := range p.watches {
		p.change(key)
	}
}

func (b *box) askAgain() {
	b.again = true
	b.fill()
}

// heard puts a message into its box: 'g ID TOKEN TTL CONTENDED' (granted), 'v ...' (revoked), 'x ID' (ended) or 'w KEY'
// (the queue changed). Unknown ones are ignored: they are for claims that were released, or of a newer version.
func (p *post) heard(message string) {
	kind, rest, _ := strings.Cut(message, " ")
	p.mu.Lock()
	defer p.mu.Unlock()
	if kind == "w" {
		p.change(rest)
		return
	}
	f := strings.Fields(rest)
	if len(f) == 0 || p.boxes[f[0]] == nil {
		return
	}
	b := p.boxes[f[0]]
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

func (b *box) fill() {
	b.filled = true
	if b.wake != nil {
		close(b.wake)
		b.wake = nil
	}
	b.listeners.Call()
}

// take empties the box.
func (b *box) take() (driver.Status, error) {
	st, gone, again := b.news, b.gone, b.again
	*b = box{until: b.until, wake: b.wake, lock: b.lock, told: b.told, listeners: b.listeners}
	switch {
	case gone:
		return driver.Status{}, driver.ErrGone
	case again:
		return driver.Status{}, nil
	}
	return st, nil
}

// expect prepares for the first request of a claim that would wait.
func (p *post) expect(ctx context.Context, c driver.Claim) error {
	if p.eager() {
		return p.ready(ctx, c.Name)
	}
	return nil
}

// extend keeps the box of a claim that is about to be requested, and lives for another TTL then. A claim that would not
// wait has none until somebody waits for news of it.
func (p *post) extend(c driver.Claim) {
	told := p.address(c.Name) != nowhere
	until := deadAt(c)
	p.mu.Lock()
	defer p.mu.Unlock()
	b := p.boxes[c.ID]
	if b == nil && c.Queue {
		b = p.add(c, until)
	}
	if b != nil {
		b.until, b.told = until, b.told || told
	}
}

// untold listens for a claim whose record does not say where to tell of it, and reports whether it was one: then it must
// be requested again.
func (p *post) untold(ctx context.Context, c driver.Claim) (bool, error) {
	p.mu.Lock()
	b := p.boxes[c.ID]
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

func (p *post) add(c driver.Claim, until time.Time) *box {
	b := &box{lock: c.Name, until: until}
	p.boxes[c.ID] = b
	p.locks[c.Name]++
	if len(p.boxes) > p.sweepAt {
		p.sweep()
	}
	return b
}

// deadAt is when a claim that is requested now has long been dead, unless it is requested again.
func deadAt(c driver.Claim) time.Time { return time.Now().Add(boxTTLs * c.TTL) }

func (p *post) hasBoxes(lock string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.locks[lock] > 0
}

// sweep throws the boxes of dead claims away. It runs each time their number has doubled.
func (p *post) sweep() {
	now := time.Now()
	for id, b := range p.boxes {
		if b.wake == nil && b.until.Before(now) {
			p.remove(id, b)
		}
	}
	p.sweepAt = max(firstSweep, 2*len(p.boxes))
}

func (p *post) remove(id string, b *box) {
	delete(p.boxes, id)
	if p.locks[b.lock]--; p.locks[b.lock] == 0 {
		delete(p.locks, b.lock)
	}
}

// forget throws the box of an ended claim away. Who waits at it learns that the claim is gone.
func (p *post) forget(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if b := p.boxes[id]; b != nil {
		p.remove(id, b)
		b.gone = true
		b.fill()
	}
}

// wait returns the next news of a claim.
func (p *post) wait(ctx context.Context, id string) (driver.Status, error) {
	p.mu.Lock()
	b := p.boxes[id]
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
		return driver.Status{}, errClosed
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return b.take()
}

// watching returns a channel that is closed when the queue with this key of claims changes, and what to call when nobody looks
// at that any more.
func (p *post) watching(key string) (changed <-chan struct{}, leave func()) {
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

func (p *post) leave(key string, w *watch) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if w.users--; w.users == 0 && p.watches[key] == w {
		delete(p.watches, key)
	}
}

func (p *post) change(key string) {
	if w := p.watches[key]; w != nil {
		close(w.changed)
		delete(p.watches, key)
	}
}

// close stops listening and ends all waits.
func (p *post) close() {
	p.mu.Lock()
	select {
	case <-p.closed:
	default:
		close(p.closed)
	}
	p.mu.Unlock()
	p.hearing.close()
}
