package redislock

import (
	"context"
	"errors"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// A post receives what the scripts tell this client about its claims, on one channel and one connection, from the first
// claim that would wait. It keeps a box for each such claim until it is released, and no goroutine.
type post struct {
	conn    Conn
	channel string
	id      string // how records name the channel

	mu       sync.Mutex
	boxes    map[string]*box
	watches  map[string]*watch // by the key of the claims
	started  bool
	begun    bool          // it has listened at least once
	attempt  chan struct{} // closed when the attempt to listen has ended, one way or the other
	failed   error         // why the last one did
	sweepAt  int           // how many boxes there may be before those of dead claims are thrown away
	stop     context.CancelFunc
	finished chan struct{}
}

// A box holds the latest news of one claim until Wait collects it.
type box struct {
	news   driver.Status
	gone   bool
	again  bool // something may have been missed: ask
	filled bool
	wake   chan struct{} // closed by the next news, if somebody waits for it
	until  time.Time     // when the claim has long been dead
}

// A watch wakes those that watch a queue.
type watch struct {
	changed chan struct{}
}

const (
	firstSweep = 1024
	boxTTLs    = 4 // how many TTLs after its last request a claim is dead, whatever the clocks
)

func newPost(conn Conn, channels, id string) *post {
	return &post{
		conn:     conn,
		channel:  channels + id,
		id:       id,
		boxes:    make(map[string]*box),
		watches:  make(map[string]*watch),
		attempt:  make(chan struct{}),
		sweepAt:  firstSweep,
		finished: make(chan struct{}),
	}
}

// address is how records name the channel; "-" as long as nobody listens to it.
func (p *post) address() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.started {
		return "-"
	}
	return p.id
}

// listening returns when the server has confirmed the subscription once, or with the error of the attempt. While a broken
// one is being renewed it does not wait: all boxes are told to ask when that is done.
func (p *post) listening(ctx context.Context) error {
	p.mu.Lock()
	if p.isClosed() {
		p.mu.Unlock()
		return errClosed
	}
	if !p.started {
		p.started = true
		running, stop := context.WithCancel(context.Background())
		p.stop = stop
		go p.listen(running)
	}
	begun, attempt := p.begun, p.attempt
	p.mu.Unlock()
	if begun {
		return nil
	}
	select {
	case <-attempt:
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.begun {
			return nil
		}
		return p.failed
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Pauses between two attempts to listen.
const (
	firstPause = 10 * time.Millisecond
	lastPause  = time.Second
)

// listen keeps the subscription until close.
func (p *post) listen(ctx context.Context) {
	defer close(p.finished)
	pause := firstPause
	for ctx.Err() == nil {
		var worked atomic.Bool
		err := p.conn.Listen(ctx, p.channel, func() { worked.Store(true); p.connected() }, p.heard)
		p.disconnected(err)
		if worked.Load() {
			pause = firstPause
		}
		if driver.Sleep(ctx, pause/2+rand.N(pause/2)) != nil {
			return
		}
		pause = min(2*pause, lastPause)
	}
}

// connected tells all who wait to ask: what was sent before the subscription is lost.
func (p *post) connected() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.begun {
		for _, b := range p.boxes {
			b.again = true
			b.fill()
		}
		for key := range p.watches {
			p.change(key)
		}
	}
	p.begun = true
	p.endAttempt(nil)
}

func (p *post) disconnected(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err == nil {
		err = errors.New("redis: the subscription ended")
	}
	if !p.begun {
		p.endAttempt(err)
	}
}

// endAttempt lets go those who wait for the attempt, and begins another.
func (p *post) endAttempt(err error) {
	p.failed = err
	close(p.attempt)
	p.attempt = make(chan struct{})
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
}

// take empties the box.
func (b *box) take() (driver.Status, error) {
	st, gone, again := b.news, b.gone, b.again
	*b = box{until: b.until, wake: b.wake}
	switch {
	case gone:
		return driver.Status{}, driver.ErrGone
	case again:
		return driver.Status{}, nil
	}
	return st, nil
}

// expect makes a box for a claim, and listens.
func (p *post) expect(ctx context.Context, id string, ttl time.Duration) error {
	if err := p.listening(ctx); err != nil {
		return err
	}
	p.extend(id, ttl)
	return nil
}

// extend keeps the box of a claim that lives for another TTL.
func (p *post) extend(id string, ttl time.Duration) {
	until := time.Now().Add(boxTTLs * ttl)
	p.mu.Lock()
	defer p.mu.Unlock()
	if b := p.boxes[id]; b != nil {
		b.until = until
		return
	}
	p.boxes[id] = &box{until: until}
	if len(p.boxes) > p.sweepAt {
		p.sweep()
	}
}

// sweep throws the boxes of dead claims away. It runs each time their number has doubled.
func (p *post) sweep() {
	now := time.Now()
	for id, b := range p.boxes {
		if b.wake == nil && b.until.Before(now) {
			delete(p.boxes, id)
		}
	}
	p.sweepAt = max(firstSweep, 2*len(p.boxes))
}

// forget throws the box of an ended claim away. Who waits at it learns that the claim is gone.
func (p *post) forget(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if b := p.boxes[id]; b != nil {
		delete(p.boxes, id)
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
	case <-p.finished:
		return driver.Status{}, errClosed
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return b.take()
}

// watching returns a channel that is closed when the queue with this key of claims changes.
func (p *post) watching(key string) <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	w := p.watches[key]
	if w == nil {
		w = &watch{changed: make(chan struct{})}
		p.watches[key] = w
	}
	return w.changed
}

func (p *post) change(key string) {
	if w := p.watches[key]; w != nil {
		close(w.changed)
		delete(p.watches, key)
	}
}

func (p *post) isClosed() bool {
	select {
	case <-p.finished:
		return true
	default:
		return false
	}
}

// close stops listening and ends all waits.
func (p *post) close() {
	p.mu.Lock()
	started, stop := p.started, p.stop
	if !started && !p.isClosed() {
		close(p.finished)
	}
	p.mu.Unlock()
	if started {
		stop()
		<-p.finished
	}
}
