package claims

import (
	"sync"

	"github.com/holdfast-go/holdfast/driver"
)

// bells are those that hang in a session. They change in its turn only.
type bells struct {
	mu    sync.Mutex
	most  int
	byID  map[string]bell
	wrong []wrongBell
}

// A bell is what hangs for a claim: one that rings when it ends and, while a claim that shares its lock waits, one that
// rings when it is granted, since that may make the next one grantable, too.
type bell struct{ waits bool }

// A wrongBell has to be rung although no request of its claim does so.
type wrongBell struct{ id, which string }

const (
	bellOfEnd  = "end"
	bellOfWait = "wait"
)

// wanted reports whether the next request should hang up the bells of a claim.
func (b *bells) wanted(id string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, hangs := b.byID[id]
	return !hangs && len(b.byID) < b.most
}

// allow bounds how many hang.
func (b *bells) allow(most int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.most = most
}

// hanging counts the bells of a claim: 2 with the one for its grant.
func (b *bells) hanging(id string) int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch bell, hangs := b.byID[id]; {
	case !hangs:
		return 0
	case bell.waits:
		return 2
	default:
		return 1
	}
}

// answered notes what the server said about a claim, and whether it was asked to hang up bells.
func (b *bells) answered(c driver.Claim, hung bool, a answer) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if hung && a.verdict == isThere {
		if b.byID == nil {
			b.byID = make(map[string]bell)
		}
		b.byID[c.ID] = bell{waits: !a.status.Granted && c.Weight < c.Limit}
		return
	}
	old, hangs := b.byID[c.ID]
	switch {
	case !hangs:
	case a.verdict == isGone:
		b.wrong = append(b.wrong, wrongBell{c.ID, bellOfEnd})
		if old.waits {
			b.wrong = append(b.wrong, wrongBell{c.ID, bellOfWait})
		}
		delete(b.byID, c.ID)
	case a.status.Granted && old.waits:
		b.wrong = append(b.wrong, wrongBell{c.ID, bellOfWait})
		b.byID[c.ID] = bell{}
	}
}

// noted is answered for many claims.
func (b *bells) noted(claims []driver.Claim, hung []bool, answers []answer) {
	for i, a := range answers {
		b.answered(claims[i], hung[i], a)
	}
}

// isWrong reports whether a bell of a claim has to be rung.
func (b *bells) isWrong(id string, a answer) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return a.verdict == isGone || a.verdict == isThere && a.status.Granted && b.byID[id].waits
}

// rung notes that a release rang the bells of a claim.
func (b *bells) rung(id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.byID, id)
}

// fall notes that the session is gone.
func (b *bells) fall() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.byID, b.wrong = nil, nil
}

func (b *bells) takeWrong() []wrongBell {
	b.mu.Lock()
	defer b.mu.Unlock()
	wrong := b.wrong
	b.wrong = nil
	return wrong
}
