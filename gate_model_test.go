package holdfast

import (
	"testing"

	"github.com/holdfast-go/holdfast/internal/model"
)

// A hold that goes from goroutine to goroutine of one client, in every order in which what guards it can be taken:
// gates.mu, hold.mu and grant.mu. See gate.go and hold.go; a step is what happens under one of these, so between two
// steps of one goroutine any other may go on.
//
// Modelled: three visitors, each of whom comes, is granted the lock or gives up at any time, also just when it was
// granted, and releases it; the search, which ends with a hold, or because nobody wants one any more; a hold whose
// deadline passes at any time, and the keeper that finds out at leisure; claims that are given back later than their
// hold has ended; a rival at the backend, who takes the lock when it is free there.
//
// Left out: who asks once and does not wait (a claim of its own), a search that fails, Close, WithMinHold, Detach and
// Revoke, and how often a hold is handed on, which is the question of gate_turns_model_test.go.
func TestGateInEveryState(t *testing.T) {
	for _, row := range []struct {
		name  string
		rules gateRules
		wrong string
	}{
		{name: "as it is", rules: gateRules{}},

		{"the next is granted the lock before the lease has ended", gateRules{passesFirst: true}, twoBelieve},
		{"a claim is given back before its holder knows", gateRules{undoFirst: true}, notOurs},
		{"a grant is noted after it looked whether the hold is over", gateRules{looksFirst: true}, notTold},
		{"a grant that nobody fetched stays", gateRules{dropsUnfetched: true}, model.NoWayOn},
		{"a hold that nobody wants is forgotten", gateRules{dropsFound: true}, model.NoWayOn},
		{"who comes while the search is being ended is forgotten", gateRules{dropsLate: true}, model.NoWayOn},
		{"a gate does not learn that its hold was lost", gateRules{silentLoss: true}, model.NoWayOn},
		{"a hold that was lost before it was taken is used", gateRules{usesLost: true}, model.NoWayOn},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			m := model.Model[gateState]{Next: row.rules.next, Wrong: gateWrong, Good: gateGood}
			if row.wrong == "" {
				model.Holds(t, m)
			} else {
				model.Breaks(t, m, row.wrong)
			}
		})
	}
}

const (
	twoBelieve = "two believe that they have the lock"
	notOurs    = "somebody believes to have a lock that the backend gave to others, or to nobody"
	notTold    = "a hold was lost, and its lease is not told"
	goesTwice  = "a gate seeks the lock while it has it"
)

// gateRules are how the gate differs from the right one.
type gateRules struct {
	passesFirst    bool // a release hands the hold on, and then ends the lease
	undoFirst      bool // a loss gives the claim back, and then ends the hold
	looksFirst     bool // hold.grant looks at over, and then notes the grant
	dropsUnfetched bool // a visitor whose context ended leaves the grant that it got meanwhile
	dropsFound     bool // a search that nobody waits for leaves its hold
	dropsLate      bool // a search that was ended ends the gate, whoever came since
	silentLoss     bool // a hold that is lost tells the gate nothing
	usesLost       bool // a search takes a hold without a look at whether it is over
}

const (
	gateVisitors = 3
	gateHolds    = 4 // as many as can be needed; the first can be lost
	gateRival    = gateHolds + 1
	gatePatient  = gateVisitors - 1 // among the goroutines: this visitor never gives up
	gateSearcher = gateVisitors
	gateKeeper   = gateSearcher + 1 // who finds that the first hold was lost
	gateRoutines = gateKeeper + 1
)

// A gateState is a state of everything. Holds and grants are numbered from 1.
type gateState struct {
	owner    uint8           // at the backend: a hold, or the rival
	undo     [gateHolds]bool // the claim is on its way back
	expired  bool            // the first hold: nobody believes in it
	over     [gateHolds]bool
	current  [gateHolds]uint8 // a grant
	attached [gateHolds]bool  // hold.gate is there
	holds    uint8            // so many were found
	grants   uint8            // so many were made; as many as visitors at most
	of       [gateVisitors]uint8
	ended    [gateVisitors]bool // by grant

	open    bool
	hold    uint8               // of the gate
	line    [gateVisitors]uint8 // visitors, from 1
	seeking seeking
	stop    bool // the search is to end

	mu       bool // gates.mu is held over several steps
	routines [gateRoutines]gateRoutine
	twice    bool
}

type seeking uint8

const (
	seeksNot seeking = iota
	seeks
	sought // it has found a hold
)

// A gateRoutine is a goroutine: a visitor, the search or the keeper.
type gateRoutine struct {
	at    place
	hold  uint8 // what it deals with
	grant uint8
	next  uint8 // the visitor that it serves
	saw   bool  // that the hold was over
}

type place uint8

const (
	atStart      place = iota
	atGate             // it waits
	atDoor             // its context has ended
	atUnused           // it was granted the lock all the same
	atWork             // it has a lease
	atPassing          // it has ended its lease, and hands the hold on
	atGranting         // to the next, under gates.mu
	atDelivering       // the grant, under gates.mu
	atLeaseEnd         // of its own, where that comes too late
	atHoldEnd          // of its hold
	atLoss             // it tells the lease
	atDetaching        // the hold from the gate
	atProceeding       // with the gate, without a hold
	atEnd
)

func gateWrong(s gateState) string {
	believers := 0
	for v := range gateVisitors {
		r := s.routines[v]
		if r.grant == 0 || s.ended[r.grant-1] {
			continue
		}
		h := s.of[r.grant-1]
		switch {
		case h == 1 && s.expired:
			if s.routines[gateKeeper].at == atEnd && !s.mu {
				return notTold
			}
			continue
		case s.owner != h:
			return notOurs
		}
		believers++
	}
	switch {
	case believers > 1:
		return twoBelieve
	case s.twice:
		return goesTwice
	}
	return ""
}

// gateGood reports whether everything has come to an end.
func gateGood(s gateState) bool {
	for v := range gateVisitors {
		if s.routines[v].at != atEnd {
			return false
		}
	}
	return !s.open && s.owner == 0
}

func (r gateRules) next(s gateState, step func(gateState, string)) {
	for i := range s.routines {
		r.goOn(s, i, step)
	}
	r.seek(s, step)
	r.atBackend(s, step)
}

// atBackend yields what happens there, and to time.
func (r gateRules) atBackend(s gateState, step func(gateState, string)) {
	for h := range gateHolds {
		next := s
		if next.undo[h] {
			next.undo[h] = false
			if next.owner == uint8(h+1) {
				next.owner = 0
			}
			step(next, "a claim that is given back is released")
		}
	}
	next := s
	switch {
	case s.owner == 0:
		next.owner = gateRival
		step(next, "the rival takes the lock")
	case s.owner == gateRival:
		next.owner = 0
		step(next, "the rival releases the lock")
	case s.owner == 1 && !s.expired:
		next.expired = true
		step(next, "the deadline of the first hold passes")
	case s.owner == 1:
		next.owner = 0
		step(next, "the first claim expires")
	}
}

// seek yields what the search may come to.
func (r gateRules) seek(s gateState, step func(gateState, string)) {
	if s.seeking != seeks {
		return
	}
	next := s
	if s.owner == 0 && s.holds < gateHolds {
		next.holds++
		next.owner, next.seeking = next.holds, sought
		step(next, "the search finds the lock")
	}
	if !s.stop || s.mu {
		return
	}
	next = s
	next.stop, next.seeking = false, seeksNot
	switch {
	case s.line[0] != 0 && !r.dropsLate:
		next.search()
		step(next, "the search was ended, and begins anew for those who came since")
	default:
		next.open = false
		step(next, "the search was ended, and the gate with it")
	}
}

// search is gate.search.
func (s *gateState) search() {
	s.twice = s.twice || s.seeking != seeksNot || s.hold != 0
	s.seeking, s.stop = seeks, false
}

// goOn yields what a goroutine may do.
func (r gateRules) goOn(s gateState, i int, step func(gateState, string)) {
	say := func(next gateState, what string) { step(next, gateNames[i]+what) }
	next := s
	me := &next.routines[i]
	at := me.at
	switch at { // what needs nothing of the gate
	case atGate:
		if me.grant != 0 {
			me.at = atWork
			say(next, "fetches its lease")
		}
		if i != gatePatient {
			me.at = atDoor
			say(next, "gives up")
		}
	case atUnused, atWork:
		r.release(s, i, say)
	case atGranting:
		r.grant(s, i, say)
	case atDelivering:
		r.deliver(s, i, say)
	case atLeaseEnd:
		next.ended[me.grant-1] = true
		next.end(i)
		say(next, "ends its lease")
	case atHoldEnd:
		r.end(s, i, say)
	case atLoss:
		r.tell(s, i, say)
	}
	if s.mu {
		return
	}
	switch at {
	case atStart:
		r.begin(s, i, say)
	case atDoor:
		r.leave(s, i, say)
	case atPassing:
		r.pass(s, i, say)
	case atDetaching:
		h := me.hold - 1
		if me.at = atProceeding; !next.attached[h] {
			next.end(i)
		}
		next.attached[h] = false
		say(next, "takes the hold from its gate")
	case atProceeding:
		next.hold = 0
		next.end(i)
		next.open = next.line[0] != 0
		if next.open {
			next.search()
		}
		say(next, "goes on with the gate")
	}
}

var gateNames = [gateRoutines]string{"visitor 1 ", "visitor 2 ", "visitor 3 ", "the search ", "the keeper "}

// end ends a goroutine; the search may be begun again.
func (s *gateState) end(i int) {
	if s.routines[i] = (gateRoutine{at: atEnd}); i == gateSearcher {
		s.routines[i].at = atStart
	}
}

// tell tells the lease that the hold had last, and goes on only if the hold was not over before.
func (r gateRules) tell(s gateState, i int, say func(gateState, string)) {
	me := &s.routines[i]
	if me.grant != 0 {
		s.ended[me.grant-1] = true
	}
	if me.at = atDetaching; me.saw || r.silentLoss {
		s.end(i)
	}
	say(s, "tells the lease that it is lost")
}

// begin is what a goroutine does first.
func (r gateRules) begin(s gateState, i int, say func(gateState, string)) {
	me := &s.routines[i]
	switch {
	case i < gateVisitors:
		me.at = atGate
		s.line[s.waiting()] = uint8(i + 1)
		if !s.open {
			s.open = true
			s.search()
		}
		say(s, "comes")
	case i == gateSearcher && s.seeking == sought:
		r.found(s, i, say)
	case i == gateKeeper && s.expired:
		me.hold = 1
		me.at = atHoldEnd
		if r.undoFirst {
			s.undo[0] = true
		}
		say(s, "sees that the deadline has passed")
	case i == gateKeeper && r.undoFirst && s.owner == 1 && !s.undo[0]:
		s.undo[0] = true
		say(s, "gives the claim back")
	}
}

// waiting is how many are in the line.
func (s *gateState) waiting() int {
	n := 0
	for n < len(s.line) && s.line[n] != 0 {
		n++
	}
	return n
}

// pop takes the first out of the line.
func (s *gateState) pop() (first uint8) {
	first = s.line[0]
	copy(s.line[:], s.line[1:])
	s.line[len(s.line)-1] = 0
	return first
}

// found is gate.found, of a search that brought a hold.
func (r gateRules) found(s gateState, i int, say func(gateState, string)) {
	me := &s.routines[i]
	me.hold = s.holds
	s.seeking, s.stop = seeksNot, false
	switch {
	case s.line[0] == 0:
		s.open = false
		me.at = atHoldEnd
		if r.dropsFound {
			*me = gateRoutine{}
		}
		say(s, "finds that nobody waits any more")
	case s.over[me.hold-1] && !r.usesLost:
		s.search()
		*me = gateRoutine{}
		say(s, "finds its hold lost, and begins anew")
	default:
		s.hold, s.attached[me.hold-1] = me.hold, true
		me.next, me.at, s.mu = s.pop(), atGranting, true
		say(s, "gives the gate its hold")
	}
}

// leave is gate.leave.
func (r gateRules) leave(s gateState, i int, say func(gateState, string)) {
	me := &s.routines[i]
	for at, v := range s.line {
		if v != uint8(i+1) {
			continue
		}
		copy(s.line[at:], s.line[at+1:])
		s.line[len(s.line)-1] = 0
		s.stop = s.stop || s.line[0] == 0 && s.seeking != seeksNot
		s.end(i)
		say(s, "leaves the line")
		return
	}
	if me.at = atUnused; r.dropsUnfetched {
		s.end(i)
	}
	say(s, "was granted the lock meanwhile")
}

// release ends a lease, whoever has it: it was used, or not.
func (r gateRules) release(s gateState, i int, say func(gateState, string)) {
	me := &s.routines[i]
	me.hold = s.of[me.grant-1]
	if s.ended[me.grant-1] || me.at == atWork && me.hold == 1 && s.expired {
		s.end(i)
		say(s, "sees that its lease was lost")
		return
	}
	s.ended[me.grant-1] = !r.passesFirst
	me.at = atPassing
	say(s, "releases its lease")
}

// pass is gates.pass: it hands the hold to the next, or has it given back.
func (r gateRules) pass(s gateState, i int, say func(gateState, string)) {
	me := &s.routines[i]
	h := me.hold - 1
	if !s.attached[h] || s.over[h] || me.hold == 1 && s.expired || s.line[0] == 0 {
		s.ended[me.grant-1] = true
		me.at = atHoldEnd
		say(s, "has nobody to hand the hold to")
		return
	}
	me.next, me.at, s.mu = s.pop(), atGranting, true
	say(s, "hands the hold on")
}

// grant is the part of hold.grant under hold.mu.
func (r gateRules) grant(s gateState, i int, say func(gateState, string)) {
	me := &s.routines[i]
	if r.looksFirst && !me.saw {
		before := s
		me.saw = s.over[me.hold-1]
		if !me.saw { // it is noted in a step of its own
			s.grants++
			s.of[s.grants-1] = me.hold
			me.at = atDelivering
			say(s, "looks whether the hold is over")
			return
		}
		s = before
		me = &s.routines[i]
	}
	s.grants++
	s.of[s.grants-1] = me.hold
	s.current[me.hold-1] = s.grants
	me.saw = s.over[me.hold-1]
	me.at = atDelivering
	say(s, "makes a grant")
}

// deliver is what follows, up to the end of gates.mu.
func (r gateRules) deliver(s gateState, i int, say func(gateState, string)) {
	me := &s.routines[i]
	g := s.grants
	s.current[me.hold-1] = g
	s.ended[g-1] = s.ended[g-1] || me.saw
	s.routines[me.next-1].grant = g
	s.mu = false
	if me.at = atLeaseEnd; i == gateSearcher || s.ended[me.grant-1] {
		s.end(i)
	}
	say(s, "gives the next its lease")
}

// end is hold.end, of a hold that is given back or lost.
func (r gateRules) end(s gateState, i int, say func(gateState, string)) {
	me := &s.routines[i]
	h := me.hold - 1
	was := s.over[h]
	s.over[h] = true
	switch {
	case i == gateKeeper:
		me.grant, me.saw, me.at = s.current[h], was, atLoss
		s.undo[h] = s.undo[h] || !was
	case was:
		s.end(i)
	default:
		s.undo[h] = true
		me.at = atDetaching
	}
	say(s, "ends the hold")
}
