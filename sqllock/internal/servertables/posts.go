package servertables

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// posts are the claims of this client about which there may be news.
type posts struct {
	mu      sync.Mutex
	byID    map[string]*post
	lines   map[string]*line // by name
	guards  bool             // whether the holds are being looked at
	seats   int              // lines that are waited for in the server
	noSeats time.Time        // before that no line gets a seat, since there was no connection
	crowd   bool             // whether the others are being looked at
	patrol  patrol           // looks at the claims that wait, where sessions are shared
	ended   sync.WaitGroup
	sweepAt int
}

// A post is a claim that waits, or whose Wait is going on. A granted claim that nobody asks about has none.
type post struct {
	claim   driver.Claim // with its token
	told    driver.Status
	news    driver.Mailbox[notice]
	waiters int
	until   time.Time          // nobody asks after that
	stop    context.CancelFunc // of the wait for this claim that is under way, or nil

	listeners driver.Listeners // called with each notice
}

// A notice is what Wait returns.
type notice struct {
	status driver.Status
	err    error
}

// A line is a name for which claims of this client wait. If it has a seat, the oldest of them is waited for in the server.
type line struct {
	name    string
	seated  bool
	waiting map[string]*post
	on      *post // that one, or nil before the first was picked
}

const firstSweep = 64

// answered notes what the caller was told about a claim.
func (ps *posts) answered(c driver.Claim, st driver.Status, err error) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	p := ps.byID[c.ID]
	switch {
	case errors.Is(err, driver.ErrGone):
		ps.tellLocked(p, notice{err: err})
	case err != nil || st == driver.Status{}:
	case p == nil && !st.Granted:
		ps.add(c, st)
	case p != nil:
		p.until = time.Now().Add(2 * c.TTL)
		if st.Granted && !p.told.Granted || st.Revoked && !p.told.Revoked {
			ps.tellLocked(p, notice{status: st})
		}
	}
}

// tell leaves a notice for a claim.
func (ps *posts) tell(p *post, n notice) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	ps.tellLocked(p, n)
}

func (ps *posts) tellLocked(p *post, n notice) {
	if p == nil {
		return
	}
	p.news.Put(n)
	p.listeners.Call()
	switch {
	case n.err != nil:
		ps.removeLocked(p)
	case n.status.Granted:
		p.told = n.status
		ps.leaveLine(p)
		ps.tidy(p)
	}
}

// add makes a post. Those of claims that were never given back are swept each time their number has doubled.
func (ps *posts) add(c driver.Claim, told driver.Status) *post {
	if ps.byID == nil {
		ps.byID, ps.lines, ps.sweepAt = make(map[string]*post), make(map[string]*line), firstSweep
	}
	c.Token = told.Token
	p := &post{claim: c, told: told, news: driver.NewMailbox[notice](), until: time.Now().Add(2 * c.TTL)}
	ps.byID[c.ID] = p
	if len(ps.byID) > ps.sweepAt {
		ps.sweep(time.Now())
	}
	return p
}

func (ps *posts) sweep(now time.Time) {
	for _, p := range ps.byID {
		if p.until.Before(now) && p.waiters == 0 {
			ps.removeLocked(p)
		}
	}
	ps.sweepAt = max(firstSweep, 2*len(ps.byID))
}

// forget drops a claim that is given back, and wakes whoever waits for it.
func (ps *posts) forget(id string) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if p := ps.byID[id]; p != nil {
		ps.removeLocked(p)
	}
}

// removeLocked forgets a claim. The wait for it in the server ends soon by itself, since the claim is gone; it is cut off, which
// the server logs and which costs the connection, only where others wait for that.
func (ps *posts) removeLocked(p *post) {
	if ps.byID[p.claim.ID] == p {
		delete(ps.byID, p.claim.ID)
	}
	ps.leaveLine(p)
	if l := ps.lines[p.claim.Name]; p.stop != nil && (l == nil || l.on != p || len(l.waiting) > 0) {
		p.stop()
	}
}

func (ps *posts) leaveLine(p *post) {
	if l := ps.lines[p.claim.Name]; l != nil && l.waiting[p.claim.ID] == p {
		delete(l.waiting, p.claim.ID)
	}
}

// tidy drops a claim about which there is nothing to remember.
func (ps *posts) tidy(p *post) {
	if p.waiters == 0 && p.told.Granted && p.news.IsEmpty() {
		ps.removeLocked(p)
	}
}

// inBackground lets f run until close, unless the session is over.
func (ps *posts) inBackground(open context.Context, f func()) bool {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if open.Err() != nil {
		return false
	}
	ps.ended.Go(f)
	return true
}

// close waits for those who wait, whose connections the end of the session has ended.
func (ps *posts) close() { ps.ended.Wait() }
