package sqllock

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// posts are the letter boxes of this client's claims: what is rung for a claim stays there until Wait collects it.
type posts struct {
	mu     sync.Mutex
	byID   map[string]*post
	listen sync.Once
}

// A post is the letter box of one claim.
type post struct {
	news     chan struct{} // holds one token while there is something; closed when the claim has ended
	status   driver.Status // of a grant that was rung; zero means "ask again"
	blockers []string      // clients of the claims ahead, when this one is next in line
}

// open makes the letter box of a claim that is about to be requested, and begins to listen with the first.
func (p *posts) open(d *Driver, id string) (fresh bool) {
	p.listen.Do(func() { d.client.listen(p.heard) })
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.byID == nil {
		p.byID = make(map[string]*post)
	}
	if _, ok := p.byID[id]; ok {
		return false
	}
	p.byID[id] = &post{news: make(chan struct{}, 1)}
	return true
}

// answered notes what a request said. A claim that was granted at once needs no letter box until somebody waits.
func (p *posts) answered(id string, st driver.Status, blockers []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if box, ok := p.byID[id]; ok {
		box.blockers = blockers
	}
}

func (p *posts) close(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if box, ok := p.byID[id]; ok {
		delete(p.byID, id)
		close(box.news)
	}
}

// closeIfGone returns err, and closes the letter box of a claim that it says is gone.
func (p *posts) closeIfGone(id string, err error) error {
	if errors.Is(err, driver.ErrGone) {
		p.close(id)
	}
	return err
}

func (p *posts) find(id string) *post {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.byID[id]
}

// heard puts a message into its letter box.
func (p *posts) heard(message string) {
	var id string
	var st driver.Status
	var ttl int64
	if n, _ := fmt.Sscan(message, &id, &st.Token, &ttl); n == 3 {
		st.Granted, st.TTL = true, time.Duration(ttl)
	}
	p.put(id, st)
}

func (p *posts) put(id string, st driver.Status) {
	p.mu.Lock()
	defer p.mu.Unlock()
	box, ok := p.byID[id]
	if !ok {
		return
	}
	box.status = st
	select {
	case box.news <- struct{}{}:
	default:
	}
}

// take empties a letter box.
func (p *posts) take(box *post) driver.Status {
	p.mu.Lock()
	defer p.mu.Unlock()
	st := box.status
	box.status = driver.Status{}
	return st
}

func (p *posts) blockersOf(box *post) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return box.blockers
}

// A ring is a message to a client about one of its claims.
type ring struct {
	client, id string
	message    string
}

// tell notes that a client is to be told about its claim: that it is granted, or that it should ask.
func (t *tx) tell(r row, granted bool) {
	message := r.ID
	if granted {
		message = fmt.Sprint(r.ID, " ", r.Token, " ", int64(r.TTL))
	}
	t.rings = append(t.rings, ring{client: r.client, id: r.ID, message: message})
}

// ring delivers what was noted, now that it is committed.
func (d *Driver) ring(rings []ring) {
	for _, r := range rings {
		if r.client == d.client.id {
			d.posts.heard(r.message)
		} else {
			d.client.ring(r.client, r.message)
		}
	}
}

// readLines calls heard with each line until the reader ends.
func readLines(r io.Reader, heard func(string)) {
	for lines := bufio.NewScanner(r); lines.Scan(); {
		heard(lines.Text())
	}
}

// The safety net of Wait: how often the next in line looks whether those ahead of it live, which costs a few system
// calls, and how often it asks in case a ring was lost, which costs a transaction: once in so many parts of its TTL.
const (
	lookPause = 30 * time.Millisecond
	askParts  = 6
)

// Wait implements [driver.Waiter].
func (d *Driver) Wait(ctx context.Context, c driver.Claim) (driver.Status, error) {
	if d.posts.open(d, c.ID) {
		return driver.Status{}, nil // nobody rang for it before, so the caller has to ask once
	}
	box := d.posts.find(c.ID)
	look, ask := time.NewTicker(lookPause), time.NewTimer(c.TTL/askParts)
	defer look.Stop()
	defer ask.Stop()
	for box != nil {
		select {
		case _, open := <-box.news:
			if !open {
				return driver.Status{}, driver.ErrGone
			}
			return d.posts.take(box), nil
		case <-look.C:
			if d.anyDead(d.posts.blockersOf(box)) {
				return driver.Status{}, nil
			}
		case <-ask.C:
			if len(d.posts.blockersOf(box)) > 0 {
				return driver.Status{}, nil
			}
		case <-ctx.Done():
			return driver.Status{}, ctx.Err()
		case <-d.closed.Done():
			return driver.Status{}, errClosed
		}
	}
	return driver.Status{}, driver.ErrGone
}

// anyDead reports whether one of the clients is gone.
func (d *Driver) anyDead(clients []string) bool {
	for _, id := range clients {
		if !d.client.sees(id) {
			return true
		}
	}
	return false
}
