package servertables

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// A notifier keeps a subscription for each claim of this client about which there may be news.
type notifier struct {
	mu         sync.Mutex
	byID       map[string]*subscription
	awaited    map[string]*awaited // by name
	guards     bool                // whether the holds are being looked at
	sleepers   int                 // how many locks are waited for in the server
	noSleepers time.Time           // before that no lock gets a sleeper, because there was no connection for one
	crowd      bool                // whether the others are being looked at
	poller     poller              // looks at the claims that wait, where sessions are shared
	ended      sync.WaitGroup
	sweepAt    int
}

// A subscription is for a claim that waits, or about which somebody wants to know. A granted claim that nobody asks
// about has none.
type subscription struct {
	claim   driver.Claim // with its token
	told    driver.Status
	news    chan notice // has the latest one, until somebody takes it
	waiters int
	until   time.Time          // nobody asks after that
	stop    context.CancelFunc // of the wait for this claim that is under way, or nil

	listeners map[*func()]struct{} // called with each notice
}

// A notice is what wait returns.
type notice struct {
	status driver.Status
	err    error
}

// An awaited lock is one for which claims of this client wait. If it has a sleeper, which is a connection, the client
// waits in the server for the oldest of them.
type awaited struct {
	name       string
	hasSleeper bool
	waiting    map[string]*subscription
	on         *subscription // that one, or nil before the first was picked
}

const firstSweep = 64

// awaits reports whether claims of this client wait for a lock.
func (n *notifier) awaits(name string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.awaited[name] != nil
}

// answered notes what the caller was told about a claim.
func (n *notifier) answered(c driver.Claim, st driver.Status, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	p := n.byID[c.ID]
	switch {
	case errors.Is(err, driver.ErrGone):
		n.tellLocked(p, notice{err: err})
	case err != nil || st == driver.Status{}:
	case p == nil && !st.Granted:
		n.add(c, st)
	case p != nil:
		p.until = time.Now().Add(2 * c.TTL)
		if st.Granted && !p.told.Granted || st.Revoked && !p.told.Revoked {
			n.tellLocked(p, notice{status: st})
		}
	}
}

// tell leaves a notice for a claim.
func (n *notifier) tell(p *subscription, news notice) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.tellLocked(p, news)
}

func (n *notifier) tellLocked(p *subscription, news notice) {
	if p == nil {
		return
	}
	select {
	case <-p.news:
	default: // there is none, or it was taken
	}
	p.news <- news // before the listeners, who ask for it
	for moved := range p.listeners {
		(*moved)()
	}
	switch {
	case news.err != nil:
		n.removeLocked(p)
	case news.status.Granted:
		p.told = news.status
		n.leaveAwaited(p)
		n.tidy(p)
	}
}

// add makes a subscription. Those of claims that were never given back are swept each time their number has doubled.
func (n *notifier) add(c driver.Claim, told driver.Status) *subscription {
	if n.byID == nil {
		n.byID, n.awaited, n.sweepAt = make(map[string]*subscription), make(map[string]*awaited), firstSweep
	}
	c.Token = told.Token
	p := &subscription{
		claim: c, told: told, news: make(chan notice, 1), until: time.Now().Add(2 * c.TTL),
		listeners: make(map[*func()]struct{}),
	}
	n.byID[c.ID] = p
	if len(n.byID) > n.sweepAt {
		n.sweep(time.Now())
	}
	return p
}

func (n *notifier) sweep(now time.Time) {
	for _, p := range n.byID {
		if p.until.Before(now) && p.waiters == 0 {
			n.removeLocked(p)
		}
	}
	n.sweepAt = max(firstSweep, 2*len(n.byID))
}

// forget drops a claim that was given back, under its token or 0. Whoever waits for news of it here, or holds it
// together with who gave it back, learns that it is gone.
func (n *notifier) forget(c driver.Claim) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if p := n.byID[c.ID]; p != nil && (c.Token == 0 || c.Token == p.claim.Token) {
		n.tellLocked(p, notice{err: driver.ErrGone})
	}
}

// removeLocked forgets a claim. The wait for it in the server ends soon by itself, because the claim is gone. Cutting
// it off costs the connection, and the server logs it, so that is done only if others wait for the sleeper.
func (n *notifier) removeLocked(p *subscription) {
	if n.byID[p.claim.ID] == p {
		delete(n.byID, p.claim.ID)
	}
	n.leaveAwaited(p)
	if l := n.awaited[p.claim.Name]; p.stop != nil && (l == nil || l.on != p || len(l.waiting) > 0) {
		p.stop()
	}
}

func (n *notifier) leaveAwaited(p *subscription) {
	if l := n.awaited[p.claim.Name]; l != nil && l.waiting[p.claim.ID] == p {
		delete(l.waiting, p.claim.ID)
	}
}

// tidy drops a subscription for which no more news are expected.
func (n *notifier) tidy(p *subscription) {
	if p.waiters == 0 && p.told.Granted && len(p.news) == 0 {
		n.removeLocked(p)
	}
}

// inBackground lets f run until close, unless the session is over.
func (n *notifier) inBackground(open context.Context, f func()) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if open.Err() != nil {
		return false
	}
	n.ended.Go(f)
	return true
}

// close waits for those who wait, whose connections the end of the session has ended.
func (n *notifier) close() { n.ended.Wait() }

// listen has moved called with the news of a granted claim, until stop is called.
func (d *Driver) listen(_ context.Context, c driver.Claim, moved func()) (stop func(), err error) {
	p, n := d.enter(c), &d.notifier
	n.mu.Lock()
	defer n.mu.Unlock()
	p.listeners[&moved] = struct{}{}
	if len(p.news) > 0 {
		moved()
	}
	return func() {
		n.mu.Lock()
		delete(p.listeners, &moved)
		n.mu.Unlock()
		d.leave(p)
	}, nil
}
