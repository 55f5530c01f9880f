package servertables

import (
	"context"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// Where sessions are shared, a client looks at all of its claims that wait, together and in short statements: soon
// after news, later the longer there are none, and never late while one of them is the next in line.
const (
	pollFirst = 10 * time.Millisecond
	pollNext  = 50 * time.Millisecond
	pollLast  = 250 * time.Millisecond
	pollMost  = 256 // claims in one statement
)

// A poller runs while somebody waits.
type poller struct {
	runs  bool
	pause time.Duration // before it looks again
}

// pollSoon lets the poller look soon, and starts it if it does not run. The notifier is locked.
func (d *Driver) pollSoon() {
	n := &d.notifier
	n.poller.pause = pollFirst
	if !n.poller.runs {
		n.poller.runs = true
		n.ended.Go(d.poll)
	}
}

// poll looks again and again, until the session ends or nobody waits.
func (d *Driver) poll() {
	for {
		waiting, pause := d.notifier.toPoll(d.requests.open)
		if waiting == nil {
			return
		}
		driver.Sleep(d.requests.open, pause)
		for some := range slices.Chunk(waiting, pollMost) {
			d.pollSome(some)
		}
	}
}

// toPoll returns the claims that wait, and how long to pause before asking about them. If there are none, the poller
// ends.
func (n *notifier) toPoll(open context.Context) (waiting []*subscription, pause time.Duration) {
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
	n.poller.runs = waiting != nil
	pause = n.poller.pause
	n.poller.pause = min(pause*5/4, pollLast)
	return waiting, pause
}

// pollSome asks about claims that wait. After an error they are asked about in the next round.
func (d *Driver) pollSome(waiting []*subscription) {
	claims := make([]driver.Claim, len(waiting))
	for i, p := range waiting {
		claims[i] = p.claim
	}
	answers, err := d.inspect(claims)
	if err != nil {
		return
	}
	for i, a := range answers {
		if pause := d.report(waiting[i], a); pause > 0 {
			d.notifier.hurry(pause)
		}
	}
}

// due is the Retry of a claim that nothing blocks any more: it is granted when somebody asks for it.
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
		return pollNext
	case a.status.Retry > 0:
		d.notifier.tell(p, notice{})
	default:
		return 0
	}
	return pollFirst
}

// hurry makes the pause no longer than this.
func (n *notifier) hurry(pause time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.poller.pause = min(n.poller.pause, pause)
}
