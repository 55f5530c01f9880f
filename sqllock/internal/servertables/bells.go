package servertables

import (
	"sync"

	"github.com/holdfast-go/holdfast/driver"
)

// bells are those that hang in a connection. They change in its turn only.
type bells struct {
	mu    sync.Mutex
	most  int
	count int // of bells
	byID  map[string]bell
	names map[string]int // of locks, and of how many of their claims there are bells
	wrong []wrongBell
}

// A bell is what hangs for a claim: one that rings when it ends and, while a claim that shares its lock waits, one that
// rings when it is granted, since that may make the next one grantable, too.
type bell struct {
	name  string
	waits bool
}

func (b bell) count() int {
	if b.waits {
		return 2
	}
	return 1
}

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
	return !hangs && b.count < b.most
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
	bell, hangs := b.byID[id]
	if !hangs {
		return 0
	}
	return int64(bell.count())
}

// answered notes what the server said about a claim, and whether it was asked to hang up bells.
func (b *bells) answered(c driver.Claim, hung bool, a answer) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if hung && a.verdict == isThere {
		b.put(c.ID, bell{name: c.Name, waits: !a.status.Granted && c.Weight < c.Limit})
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
		b.take(c.ID)
	case a.status.Granted && old.waits:
		b.wrong = append(b.wrong, wrongBell{c.ID, bellOfWait})
		b.put(c.ID, bell{name: old.name})
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
	b.take(id)
}

func (b *bells) put(id string, one bell) {
	if b.byID == nil {
		b.byID, b.names = make(map[string]bell), make(map[string]int)
	}
	b.take(id)
	b.byID[id] = one
	b.names[one.name]++
	b.count += one.count()
}

func (b *bells) take(id string) {
	one, hangs := b.byID[id]
	if !hangs {
		return
	}
	delete(b.byID, id)
	b.count -= one.count()
	if b.names[one.name]--; b.names[one.name] == 0 {
		delete(b.names, one.name)
	}
}

// areOf reports whether there is one of a lock.
func (b *bells) areOf(name string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.names[name] > 0
}

// claims is of how many claims there are bells.
func (b *bells) claims() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.byID)
}

// fall notes that the connection is gone.
func (b *bells) fall() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.byID, b.names, b.wrong, b.count = nil, nil, nil, 0
}

// areRight reports whether there are none to be rung.
func (b *bells) areRight() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.wrong) == 0
}

func (b *bells) takeWrong() []wrongBell {
	b.mu.Lock()
	defer b.mu.Unlock()
	wrong := b.wrong
	b.wrong = nil
	return wrong
}
