package memlock

import (
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// An end is what is remembered of a claim that ended, so that a late duplicate of its request queues nothing, and a
// repeated release gets the answer of the first.
type end struct {
	id       string
	token    uint64
	released bool
	until    time.Time
}

// remember notes how a claim ended for its TTL, which is the longest that a request of it had. Of a series only the
// last is remembered: see [driver.NextID].
func (l *lock) remember(c driver.Claim, released bool) {
	series := driver.SeriesStart(c.ID)
	if e, ok := l.ended[series]; ok && e.id > c.ID {
		return
	}
	l.ended[series] = end{id: c.ID, token: c.Token, released: released, until: l.now.Add(c.TTL)}
}

// recall returns how the claim with this ID ended, if that is still known. Of one before the last of its series it is
// known only that it ended.
func (l *lock) recall(id string) (e end, ok bool) {
	e, ok = l.ended[driver.SeriesStart(id)]
	switch {
	case !ok || l.now.After(e.until) || e.id < id:
		return end{}, false
	case e.id > id:
		return end{}, true
	}
	return e, true
}

// forgetEnds forgets what was remembered for long enough.
func (l *lock) forgetEnds() {
	for series, e := range l.ended {
		if l.now.After(e.until) {
			delete(l.ended, series)
		}
	}
}
