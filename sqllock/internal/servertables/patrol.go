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

// alarm lets the patrol look soon. The notifier is locked.
func (d *Driver) alarm() {
	n := &d.notifier
	n.patrol.pause = patrolFirst
	if !n.patrol.goes {
		n.patrol.goes = true
		n.ended.Go(d.goRound)
	}
}

// goRound ends with the session, or when nobody waits.
func (d *Driver) goRound() {
	for {
		waiting, pause := d.notifier.toVisit(d.requests.open)
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
func (n *notifier) toVisit(open context.Context) (waiting []*subscription, pause time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, p := range n.byID {
		if p.waiters > 0 && !p.told.Granted {
			waiting = append(waiting, p)
		}
	}
	if open.Err() != nil {
		waiting = nil
	}
	n.patrol.goes = waiting != nil
	pause = n.patrol.pause
	n.patrol.pause = min(pause*5/4, patrolLast)
	return waiting, pause
}

// visit asks about claims that wait. After an error the next round does.
func (d *Driver) visit(waiting []*subscription) {
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
			d.notifier.hurry(pause)
		}
	}
}

// due is what a routine says of a claim whose way is free, when somebody asks for it.
const due = time.Microsecond

// report passes on what the server said about a claim that waits, and returns how soon to look again, or 0.
func (d *Driver) report(p *subscription, a answer) (again time.Duration) {
	switch {
	case a.outcome == isGone:
		d.notifier.tell(p, notice{err: driver.ErrGone})
	case a.outcome != isThere:
		return 0
	case a.status.Granted:
		d.notifier.tell(p, notice{status: a.status})
	case a.status.Retry > due:
		return patrolNext
	case a.status.Retry > 0:
		d.notifier.tell(p, notice{})
	default:
		return 0
	}
	return patrolFirst
}

// hurry makes the pause no longer than this.
func (n *notifier) hurry(pause time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.patrol.pause = min(n.patrol.pause, pause)
}
