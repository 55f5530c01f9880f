package servertables

import (
	"context"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// Where sessions are shared, a client looks at all of its claims that wait, together and in short statements: soon after
// news, later the longer there are none, and never late while one of them is the next in line.
const (
	patrolFirst = 10 * time.Millisecond
	patrolNext  = 50 * time.Millisecond
	patrolLast  = 250 * time.Millisecond
	patrolMost  = 256 // claims in one statement
)

// A patrol is on its way while somebody waits.
type patrol struct {
	goes  bool
	pause time.Duration // before it looks again
}

// alarm lets the patrol look soon. The posts are locked.
func (d *Driver) alarm() {
	ps := &d.posts
	ps.patrol.pause = patrolFirst
	if !ps.patrol.goes {
		ps.patrol.goes = true
		ps.ended.Go(d.goRound)
	}
}

// goRound ends with the session, or when nobody waits.
func (d *Driver) goRound() {
	for {
		waiting, pause := d.posts.toVisit(d.requests.open)
		if waiting == nil {
			return
		}
		driver.Sleep(d.requests.open, pause)
		for some := range slices.Chunk(waiting, patrolMost) {
			d.visit(some)
		}
	}
}

// toVisit returns the claims that wait, and for how long to leave them alone before; none, and the end of the patrol, when
// there are none.
func (ps *posts) toVisit(open context.Context) (waiting []*post, pause time.Duration) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	for _, p := range ps.byID {
		if p.waiters > 0 && !p.told.Granted {
			waiting = append(waiting, p)
		}
	}
	if open.Err() != nil {
		waiting = nil
	}
	ps.patrol.goes = waiting != nil
	pause = ps.patrol.pause
	ps.patrol.pause = min(pause*5/4, patrolLast)
	return waiting, pause
}

// visit asks about claims that wait. After an error the next round does.
func (d *Driver) visit(waiting []*post) {
	claims := make([]driver.Claim, len(waiting))
	for i, p := range waiting {
		claims[i] = p.claim
	}
	answers, err := d.inquire(d.requests.open, d.requests, spot{}, claims, false)
	if err != nil {
		return
	}
	for i, a := range answers {
		if pause := d.report(waiting[i], a); pause > 0 {
			d.posts.hurry(pause)
		}
	}
}

// due is what a routine says of a claim whose way is free, when somebody asks for it.
const due = time.Microsecond

// report passes on what the server said about a claim that waits, and returns how soon to look again, or 0.
func (d *Driver) report(p *post, a answer) (again time.Duration) {
	switch {
	case a.verdict == isGone:
		d.posts.tell(p, notice{err: driver.ErrGone})
	case a.verdict != isThere:
		return 0
	case a.status.Granted:
		d.posts.tell(p, notice{status: a.status})
	case a.status.Retry > due:
		return patrolNext
	case a.status.Retry > 0:
		d.posts.tell(p, notice{})
	default:
		return 0
	}
	return patrolFirst
}

// hurry makes the pause no longer than this.
func (ps *posts) hurry(pause time.Duration) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	ps.patrol.pause = min(ps.patrol.pause, pause)
}
