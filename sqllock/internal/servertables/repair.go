package servertables

import (
	"context"
	"slices"

	"github.com/holdfast-go/holdfast/driver"
)

// repairs are what is to be done about wake locks in one lane.
type repairs struct {
	bare    []driver.Claim // claims without wake locks
	over    []driver.Claim // claims whose wake locks have to be released
	answers []answer       // about those
}

// repairWakeLocks corrects the wake locks by what renewals have shown. Renewals go through other lanes than requests,
// and the wake locks are in those of the requests. There it takes those that were lost with an earlier connection,
// and releases those of claims that are over. Renewals do not wait for that.
func (d *Driver) repairWakeLocks(claims []driver.Claim, answers []answer) {
	todo := make(map[*lane]*repairs)
	for i, c := range claims {
		l, held := d.requests.wakeLane(c)
		if l == nil {
			continue
		}
		isBare := answers[i].outcome == isThere && !answers[i].alone && !held && l.wakeLocks.wanted(c.ID)
		isOver := held && l.wakeLocks.isStale(c.ID, answers[i])
		if !isBare && !isOver {
			continue
		}
		m := todo[l]
		if m == nil {
			m = &repairs{}
			todo[l] = m
		}
		if isBare {
			m.bare = append(m.bare, c)
		} else {
			m.over, m.answers = append(m.over, c), append(m.answers, answers[i])
		}
	}
	if len(todo) == 0 || !d.repairing.CompareAndSwap(false, true) {
		return
	}
	started := d.notifier.inBackground(d.requests.open, func() {
		defer d.repairing.Store(false)
		for l, m := range todo {
			d.repair(l, m)
		}
	})
	if !started {
		d.repairing.Store(false)
	}
}

// repair does what is to be done in one lane, if that is still there.
func (d *Driver) repair(l *lane, m *repairs) {
	at := affinity{lane: l}
	if len(m.over) > 0 {
		inTurn(d.requests.open, d.requests, at, func(_ context.Context, used *lane) error {
			for i, c := range m.over {
				used.wakeLocks.answered(c, false, m.answers[i])
			}
			return nil
		})
	}
	if len(m.bare) > 0 {
		ctx, done := d.inPassing()
		defer done()
		d.inquire(ctx, d.requests, at, m.bare, true)
	}
}

// wakeLane is the lane that has the wake locks of a claim, or should. It is nil where there is no lane.
func (p *pool) wakeLane(c driver.Claim) (l *lane, held bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, l := range p.lanes {
		if l.wakeLocks.held(c.ID) > 0 {
			return l, true
		}
	}
	if l := p.laneOf(c.Name); l != nil {
		return l, false
	}
	var emptiest *lane
	for _, l := range p.lanes {
		if emptiest == nil || l.wakeLocks.claims() < emptiest.wakeLocks.claims() {
			emptiest = l
		}
	}
	return emptiest, false
}

// hasWakeLock reports whether a lane has wake locks of a claim.
func (p *pool) hasWakeLock(id string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.ContainsFunc(p.lanes, func(l *lane) bool { return l.wakeLocks.held(id) > 0 })
}

// releaseElsewhere releases the wake locks of a claim that is over, if another lane has them than the one that ended
// it; and those of a claim that is left alone. Who renews such a claim takes them anew.
func (d *Driver) releaseElsewhere(c driver.Claim) {
	if l, held := d.requests.wakeLane(c); held {
		d.notifier.inBackground(d.requests.open, func() {
			d.repair(l, &repairs{over: []driver.Claim{c}, answers: []answer{{outcome: isGone}}})
		})
	}
}
