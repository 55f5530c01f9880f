package memlock

import (
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// An end is what is remembered of a claim that ended, so that a late duplicate of its request queues nothing, and a
// repeated release gets the answer of the first.
type end struct {
	token    uint64
	released bool
	until    time.Time
}

// remember notes how a claim ended for its TTL, which is the longest that a request of it had.
func (l *lock) remember(c driver.Claim, released bool) {
	l.ended[c.ID] = end{token: c.Token, released: released, until: l.now.Add(c.TTL)}
}

// recall returns how the claim with this ID ended, if that is still known.
func (l *lock) recall(id string) (e end, ok bool) {
	e, ok = l.ended[id]
	return e, ok && !l.now.After(e.until)
}

// forgetEnds forgets what was remembered for long enough.
func (l *lock) forgetEnds() {
	for id := range l.ended {
		if _, ok := l.recall(id); !ok {
			delete(l.ended, id)
		}
	}
}
