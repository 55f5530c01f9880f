package sqlite

import (
	"errors"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// posts are the claims of this client about which there may be news.
type posts struct {
	mu      sync.Mutex
	byID    map[string]*post
	sweepAt int
}

// A post is a claim that waits, or whose Wait is going on, or that was revoked. A granted claim that nobody asks about
// has none.
type post struct {
	bell    driver.Mailbox[struct{}] // has word when it rang
	told    driver.Status            // what the caller knows
	waiters int
	until   time.Time // nobody asks after that

	listeners driver.Listeners // called when it rings
}

const firstSweep = 64

// answered notes what the caller was told about a claim.
func (ps *posts) answered(c driver.Claim, st driver.Status, err error) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	switch p := ps.byID[c.ID]; {
	case errors.Is(err, driver.ErrGone):
		ps.remove(c.ID)
	case err != nil || st == driver.Status{}:
	case p != nil:
		p.told, p.until = st, time.Now().Add(2*c.TTL)
		ps.tidy(c.ID, p)
	case !st.Granted:
		ps.add(c, st)
	}
}

// enter begins a Wait. A claim that is not known was granted by the answer to its request.
func (ps *posts) enter(c driver.Claim) *post {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	p := ps.byID[c.ID]
	if p == nil {
		p = ps.add(c, driver.Status{Granted: true})
	}
	p.waiters++
	return p
}

// leave ends a Wait that told st, unless it ended with an error.
func (ps *posts) leave(c driver.Claim, p *post, st driver.Status, err error) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	p.waiters--
	switch {
	case errors.Is(err, driver.ErrGone):
		ps.remove(c.ID)
	case err == nil:
		p.told = st
	}
	ps.tidy(c.ID, p)
}

// isNews reports whether the caller does not know yet.
func (ps *posts) isNews(p *post, st driver.Status) bool {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	return st.Granted && !p.told.Granted || st.Revoked && !p.told.Revoked
}

// ring wakes those who wait for news about a claim.
func (ps *posts) ring(id string) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if p := ps.byID[id]; p != nil {
		p.bell.Put(struct{}{})
		p.listeners.Call()
	}
}

// forget drops a claim that has ended, and wakes those who wait.
func (ps *posts) forget(id string) {
	ps.ring(id)
	ps.mu.Lock()
	defer ps.mu.Unlock()
	ps.remove(id)
}

func (ps *posts) remove(id string) {
	if p := ps.byID[id]; p != nil && p.waiters == 0 {
		delete(ps.byID, id)
	}
}

// tidy drops a claim about which there is nothing to remember.
func (ps *posts) tidy(id string, p *post) {
	if p.told.Granted && !p.told.Revoked && ps.byID[id] == p {
		ps.remove(id)
	}
}

// add makes a post. Those of claims that were never given back are swept each time their number has doubled.
func (ps *posts) add(c driver.Claim, told driver.Status) *post {
	if ps.byID == nil {
		ps.byID, ps.sweepAt = make(map[string]*post), firstSweep
	}
	p := &post{bell: driver.NewMailbox[struct{}](), told: told, until: time.Now().Add(2 * c.TTL)}
	ps.byID[c.ID] = p
	if len(ps.byID) > ps.sweepAt {
		ps.sweep(time.Now())
	}
	return p
}

func (ps *posts) sweep(now time.Time) {
	for id, p := range ps.byID {
		if p.until.Before(now) {
			ps.remove(id)
		}
	}
	ps.sweepAt = max(firstSweep, 2*len(ps.byID))
}
