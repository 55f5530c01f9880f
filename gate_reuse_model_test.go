package holdfast

import (
	"testing"

	"github.com/holdfast-go/holdfast/internal/model"
)

// A lock that a client keeps for reuse, and another client that queues for it at any time, in every order of what
// happens under gates.mu, at the backend and on the way. See reuse.go.
//
// Left out: time, so nobody is let in because the lock was kept for long enough, or because it was time for a renewal;
// losses, hand-offs to goroutines, and Close.
func TestReuseInEveryState(t *testing.T) {
	for _, row := range []struct {
		name  string
		rules reuseRules
		wrong string
	}{
		{name: "as it is", rules: reuseRules{}},

		{"nobody asks who waits once the watch has begun", reuseRules{neverAsks: true}, model.NoWayOn},
		{"who waits is asked before the watch has begun", reuseRules{asksFirst: true}, model.NoWayOn},
		{"news while the lock is in use are forgotten", reuseRules{forgetsNews: true}, model.NoWayOn},
		{"an answer while the lock is in use is forgotten", reuseRules{forgetsAnswer: true}, model.NoWayOn},
		{"a lock that is given back is still there to be taken", reuseRules{staysIdle: true}, bothHave},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			m := model.Model[reuseState]{Next: row.rules.next, Wrong: reuseWrong, Good: reuseGood}
			if row.wrong == "" {
				model.Holds(t, m)
			} else {
				model.Breaks(t, m, row.wrong)
			}
		})
	}
}

const bothHave = "the owner uses a lock that the other client has"

// reuseRules are how the keeping differs from the right one.
type reuseRules struct {
	neverAsks     bool // the lookout does not ask who waits
	asksFirst     bool // it asks, and then watches
	forgetsNews   bool // a change of the queue does nothing while the lock is in use
	forgetsAnswer bool // the answer that somebody waits does nothing then
	staysIdle     bool // giving back leaves the hold idle
}

// reuseCycles is how often the owner takes the lock.
const reuseCycles = 3

type reuseState struct {
	claim reuseClaim // of the owner
	inUse bool
	idle  bool
	over  bool // it is not kept any more
	waits bool // the newest answer says that somebody does
	taken uint8
	watch reuseWatch
	asked reuseQuestion
	other reuseOther
}

type reuseClaim uint8

const (
	noClaim   reuseClaim = iota
	granted              // to the owner
	returning            // it is on its way back
)

type reuseWatch uint8

const (
	notYetWatched reuseWatch = iota
	beginning
	watching
	changed // which the owner has not heard
	watched
)

type reuseQuestion uint8

const (
	notAsked reuseQuestion = iota
	underWay
	nobodyWaits // the answer is on its way
	otherWaits
	answered
)

type reuseOther uint8

const (
	away reuseOther = iota
	queues
	hasIt
	done
)

func reuseWrong(s reuseState) string {
	if s.inUse && s.other == hasIt {
		return bothHave
	}
	return ""
}

// reuseGood reports whether both have had what they wanted.
func reuseGood(s reuseState) bool { return s.taken == reuseCycles && !s.inUse && s.other == done }

func (r reuseRules) next(s reuseState, step func(reuseState, string)) {
	r.own(s, step)
	r.lookOut(s, step)
	r.atBackend(s, step)
}

// giveBack has the owner send its claim back.
func (r reuseRules) giveBack(s reuseState) reuseState {
	s.claim, s.idle = returning, r.staysIdle && s.idle
	return s
}

// own yields what the owner does.
func (r reuseRules) own(s reuseState, step func(reuseState, string)) {
	next := s
	switch {
	case s.inUse:
		next.inUse = false
		if s.waits || s.over {
			step(r.giveBack(next), "the owner gives the lock back")
			return
		}
		next.idle = true
		if s.watch == notYetWatched {
			next.watch = beginning
		}
		step(next, "the owner keeps the lock")
	case s.taken == reuseCycles:
	case s.idle && !s.waits:
		next.idle, next.inUse, next.taken = false, true, s.taken+1
		step(next, "the owner takes the lock that it has kept")
	case s.claim == noClaim && (s.other == away || s.other == done):
		next = reuseState{claim: granted, inUse: true, taken: s.taken + 1, other: s.other}
		step(next, "the owner is granted the lock")
	}
}

// lookOut yields what the lookout of the owner does and hears.
func (r reuseRules) lookOut(s reuseState, step func(reuseState, string)) {
	next := s
	if s.watch == beginning && !(r.asksFirst && s.asked == notAsked) {
		next.watch = watching
		step(next, "the watch begins")
	}
	next = s
	if s.asked == notAsked && !r.neverAsks && (s.watch > beginning || r.asksFirst && s.watch == beginning) {
		next.asked = underWay
		step(next, "the owner asks who waits")
	}
	next = s
	if s.watch == changed {
		next.watch = watched
		switch {
		case s.idle:
			next = r.giveBack(next)
		case s.inUse && !r.forgetsNews:
			next.over = true
		}
		step(next, "the owner hears that the queue has changed")
	}
	next = s
	if s.asked == nobodyWaits || s.asked == otherWaits {
		next.asked = answered
		next.waits = s.asked == otherWaits && !(s.inUse && r.forgetsAnswer)
		if next.idle && next.waits {
			next = r.giveBack(next)
		}
		step(next, "the owner hears who waits")
	}
}

// atBackend yields what happens there.
func (r reuseRules) atBackend(s reuseState, step func(reuseState, string)) {
	next := s
	if s.asked == underWay {
		if next.asked = nobodyWaits; s.other == queues {
			next.asked = otherWaits
		}
		step(next, "the backend answers who waits")
	}
	next = s
	if s.claim == returning {
		next.claim = noClaim
		step(next, "the claim is released")
	}
	next = s
	switch {
	case s.other == away:
		if next.other = queues; s.watch == watching {
			next.watch = changed
		}
		step(next, "the other client queues")
	case s.other == queues && s.claim == noClaim:
		next.other = hasIt
		step(next, "the other client is granted the lock")
	case s.other == hasIt:
		next.other = done
		step(next, "the other client releases the lock")
	}
}
