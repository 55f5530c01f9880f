package servertables

import (
	"context"

	"github.com/holdfast-go/holdfast/driver"
)

// A mending is what is to be done about bells in one lane.
type mending struct {
	bare    []driver.Claim // claims without bells
	over    []driver.Claim // claims whose bells have to be rung
	answers []answer       // about those
}

// mendBells lets the lanes of the requests, where bells hang, do what renewals through others have shown to be missing: hang up
// those that fell with an earlier connection, and ring those of claims that are over. Renewals do not wait for that.
func (d *Driver) mendBells(claims []driver.Claim, answers []answer) {
	todo := make(map[*lane]*mending)
	for i, c := range claims {
		l, hangs := d.requests.bellLane(c)
		if l == nil {
			continue
		}
		isBare := answers[i].verdict == isThere && !hangs && l.bells.wanted(c.ID)
		isOver := hangs && l.bells.isWrong(c.ID, answers[i])
		if !isBare && !isOver {
			continue
		}
		m := todo[l]
		if m == nil {
			m = &mending{}
			todo[l] = m
		}
		if isBare {
			m.bare = append(m.bare, c)
		} else {
			m.over, m.answers = append(m.over, c), append(m.answers, answers[i])
		}
	}
	if len(todo) == 0 || !d.mending.CompareAndSwap(false, true) {
		return
	}
	started := d.posts.inBackground(d.requests.open, func() {
		defer d.mending.Store(false)
		for l, m := range todo {
			d.mend(l, m)
		}
	})
	if !started {
		d.mending.Store(false)
	}
}

// mend does what is to be done in one lane, if that is still there.
func (d *Driver) mend(l *lane, m *mending) {
	ctx, at := d.requests.open, spot{lane: l}
	if len(m.over) > 0 {
		inTurn(ctx, d.requests, at, func(_ context.Context, used *lane) error {
			for i, c := range m.over {
				used.bells.answered(c, false, m.answers[i])
			}
			return nil
		})
	}
	if len(m.bare) > 0 {
		d.inquire(ctx, d.requests, at, m.bare, true)
	}
}

// bellLane is the lane in which bells of a claim hang, or should. It is nil where there is no lane.
func (p *pool) bellLane(c driver.Claim) (l *lane, hangs bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, l := range p.lanes {
		if l.bells.hanging(c.ID) > 0 {
			return l, true
		}
	}
	if l := p.laneOf(c.Name); l != nil {
		return l, false
	}
	var emptiest *lane
	for _, l := range p.lanes {
		if emptiest == nil || l.bells.claims() < emptiest.bells.claims() {
			emptiest = l
		}
	}
	return emptiest, false
}

// ringElsewhere rings the bells of a claim that is over, where these hang in another lane than the one that has ended it.
func (d *Driver) ringElsewhere(c driver.Claim) {
	if l, hangs := d.requests.bellLane(c); hangs {
		d.posts.inBackground(d.requests.open, func() {
			d.mend(l, &mending{over: []driver.Claim{c}, answers: []answer{{verdict: isGone}}})
		})
	}
}
