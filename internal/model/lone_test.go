package model_test

import (
	"testing"

	"github.com/holdfast-go/holdfast/internal/model"
)

// Lone claims on Redis: one key says that a claim has the lock, and when it is released nothing is left. That is safe
// because the request for it was sent once: whatever is sent after an attempt whose outcome is unknown says that it is
// not the first, and has the claim recorded. docs/design-notes/lone-claims.md says what follows from this.
//
// Modelled: one lock; a client with one claim, whose first request arrives at most once, and late; further requests,
// releases and undoes, which may arrive again and again, in any order; answers that are lost or late; somebody who
// unfolds the claim, as all do that wait or look for long; somebody who breaks it; time, as ticks of which a TTL has
// two, by which keys expire and holders stop believing; the death of the client; and a rival, who takes the lock
// whenever the key is not there, and believes in it as long as the key is his.
//
// Left out: renewals (they change a key only where it has the claim's ID and token), the queue (a lock that is waited
// for has records), the expiry of records (they outlive all copies), rates of clocks, and servers that forget.
func TestLoneClaimsInEveryState(t *testing.T) {
	for _, row := range []struct {
		name  string
		rules loneRules
		wrong string
	}{
		{name: "as built"},
		{"each request is the first", loneRules{allFirst: true}, lateLone},
		{"a repeat finds the lone claim and leaves it one", loneRules{staysLone: true}, lateLone},
		{"an undo of a lone claim leaves nothing", loneRules{forgetsUndo: true}, lateLone},
		{"an undo bars nothing", loneRules{noBar: true}, lateLone},
		{"the first request does not look at records", loneRules{blind: true}, lateLone},
		{"a refusal after a lost attempt is not undone", loneRules{noUndo: true}, lateLone},
		{"a release takes any key", loneRules{anyKey: true}, lostRival},
		{"another release that finds nothing was the second, however late", loneRules{noDeadline: true}, falseRelease},
		{"the first release that finds nothing was the second", loneRules{noFirst: true}, falseRelease},
		{"breaking is not recorded", loneRules{silentBreak: true}, falseRelease},
		{"another release that finds nothing found a claim that is gone", loneRules{goneAgain: true}, falseLoss},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			if row.wrong == "" {
				model.Holds(t, row.rules.model())
			} else {
				model.Breaks(t, row.rules.model(), row.wrong)
			}
		})
	}
}

const (
	lateLone     = "a claim that is over has the lock"
	lostRival    = "the rival's key was deleted"
	falseRelease = "a claim that ended otherwise counts as released"
	falseLoss    = "a claim that was released counts as lost"
	loneTwo      = "two believe that they have the lock"
)

// loneRules are how the protocol differs from the right one.
type loneRules struct {
	allFirst, staysLone, forgetsUndo, noBar, blind, noUndo, anyKey, noDeadline, noFirst, silentBreak, goneAgain bool
}

const loneTTL = 2

// A loneState is a state of everything.
type loneState struct {
	key      loneKey
	px       uint8 // how long the key still lives
	recorded bool  // there are records beside the key
	barred   bool  // the claim's end is among them
	released bool  // so it says
	truth    loneEnd

	phase       lonePhase
	dead        bool
	lost        bool // an attempt may have been applied of which there is no answer
	age         uint8
	deadline    uint8 // how long the client still believes
	first       bool  // the first request is under way
	again       bool  // further ones may arrive
	answer      loneAnswer
	free        bool // the first release is under way
	freeAgain   bool // further ones may arrive
	undo        bool // so may undoes
	saidOK      bool
	saidGone    bool
	rivalLost   bool
	forcedToEnd bool // it was broken, which no holder can know at once
}

type loneKey uint8

const (
	noKey loneKey = iota
	loneOwn
	recordedOwn
	loneRival
)

type loneEnd uint8

const (
	notEnded loneEnd = iota
	wasReleased
	endedOtherwise
)

type lonePhase uint8

const (
	loneUnborn lonePhase = iota
	loneAsking
	loneHolding
	loneReleasing
	loneUndoing
	loneOver
)

type loneAnswer uint8

const (
	noAnswer loneAnswer = iota
	grantedLone
	refusedLone
	goneLone
	okLone
	unknownLone
)

func (r loneRules) model() model.Model[loneState] {
	return model.Model[loneState]{Next: r.next, Wrong: loneWrong, Good: func(s loneState) bool {
		return s.key == noKey && (s.phase == loneOver || s.dead)
	}}
}

func loneWrong(s loneState) string {
	holds := s.deadline > 0 && (s.phase == loneHolding || s.phase == loneReleasing) && !s.dead
	switch {
	case s.own() && s.phase == loneOver && !s.dead:
		return lateLone
	case s.rivalLost:
		return lostRival
	case s.saidOK && s.truth == endedOtherwise:
		return falseRelease
	case s.saidGone && s.truth == wasReleased:
		return falseLoss
	case holds && s.phase == loneHolding && s.key == loneRival && !s.forcedToEnd:
		return loneTwo
	}
	return ""
}

func (s loneState) own() bool { return s.key == loneOwn || s.key == recordedOwn }

// end takes the claim's key away, and remembers how, where the claim is recorded.
func (s *loneState) end(how loneEnd, record bool) {
	s.key, s.px, s.truth = noKey, 0, how
	if record {
		s.recorded, s.barred, s.released = true, true, how == wasReleased
	}
}

func (r loneRules) next(s loneState, step func(loneState, string)) {
	r.others(s, step)
	r.network(s, step)
	if after := loneTick(s); after != s {
		step(after, "time passes")
	}
	if s.dead {
		return
	}
	r.client(s, step)
	s.dead = true
	step(s, "the client dies")
}

// others yields what other clients do.
func (r loneRules) others(s loneState, step func(loneState, string)) {
	to := s
	switch s.key {
	case noKey:
		to.key, to.px = loneRival, loneTTL
		step(to, "the rival takes the lock")
	case loneRival:
		to.key, to.px = noKey, 0
		step(to, "the rival releases the lock")
	case loneOwn:
		to.key, to.recorded = recordedOwn, true
		step(to, "somebody unfolds the claim")
		fallthrough
	case recordedOwn:
		to = s
		to.forcedToEnd = true
		to.end(endedOtherwise, !r.silentBreak)
		step(to, "somebody breaks the claim")
	}
}

func loneTick(s loneState) loneState {
	if s.px > 0 {
		if s.px--; s.px == 0 && s.own() {
			s.end(endedOtherwise, s.key == recordedOwn)
		} else if s.px == 0 {
			s.key = noKey
		}
	}
	if s.phase == loneAsking {
		s.age = min(s.age+1, loneTTL)
	}
	if s.deadline > 0 {
		s.deadline--
	}
	return s
}

// client yields what the client may do.
func (r loneRules) client(s loneState, step func(loneState, string)) {
	to := s
	to.answer = noAnswer
	switch s.phase {
	case loneUnborn:
		to.phase, to.first, to.age = loneAsking, true, 0
		step(to, "the claim is requested")
	case loneAsking:
		to.lost, to.again, to.age = true, true, 0
		step(to, "the claim is requested again")
		r.giveUp(s, step, "the request is given up")
		r.hear(s, step)
	case loneHolding:
		to.phase, to.free, to.lost = loneReleasing, true, false
		step(to, "the claim is released")
	case loneReleasing:
		to.lost, to.freeAgain = true, true
		step(to, "the claim is released again")
		r.hearRelease(s, step)
	case loneUndoing:
		if s.answer != noAnswer {
			to.phase = loneOver
			step(to, "the undo is answered")
		}
	}
}

func (r loneRules) giveUp(s loneState, step func(loneState, string), what string) {
	s.phase, s.undo, s.answer = loneUndoing, true, noAnswer
	step(s, what)
}

// hear lets the client learn what came of its request.
func (r loneRules) hear(s loneState, step func(loneState, string)) {
	to := s
	to.answer = noAnswer
	switch {
	case s.answer == noAnswer:
	case s.answer == grantedLone && s.age < loneTTL:
		to.phase, to.deadline = loneHolding, loneTTL-s.age
		step(to, "the client learns of the grant")
	case s.answer == grantedLone, s.answer == refusedLone && s.lost && !r.noUndo:
		r.giveUp(s, step, "the answer does not help, and the request is given up")
	default:
		to.phase = loneOver
		step(to, "the client learns that it has nothing")
	}
}

// hearRelease lets the client learn what came of its release.
func (r loneRules) hearRelease(s loneState, step func(loneState, string)) {
	if s.answer == noAnswer {
		return
	}
	to := s
	to.answer, to.phase = noAnswer, loneOver
	switch {
	case s.answer == okLone:
		to.saidOK = true
	case s.answer == goneLone:
		to.saidGone = true
	case r.goneAgain:
		to.saidGone = true
	case !s.lost && !r.noFirst: // the first attempt has found nothing
		to.saidGone = true
	case s.deadline > 0 || r.noDeadline || r.noFirst:
		to.saidOK = true
	}
	step(to, "the client learns what became of the claim")
}

// network yields what happens when something arrives, and its answer is lost or not.
func (r loneRules) network(s loneState, step func(loneState, string)) {
	arrives := func(what string, hears lonePhase, first bool, apply func(*loneState) loneAnswer) {
		to := s
		answer := apply(&to)
		step(to, what)
		if to.phase == hears && !to.dead && to.answer == noAnswer && first == !to.lost {
			to.answer = answer
			step(to, what+", and its answer is on the way")
		}
	}
	if s.first {
		arrives("the first request arrives", loneAsking, true, func(s *loneState) loneAnswer {
			s.first = false
			return r.request(s, true)
		})
	}
	if s.again {
		arrives("another request arrives", loneAsking, false, func(s *loneState) loneAnswer {
			return r.request(s, r.allFirst)
		})
	}
	if s.free {
		arrives("the first release arrives", loneReleasing, true, func(s *loneState) loneAnswer {
			s.free = false
			return r.release(s)
		})
	}
	if s.freeAgain {
		arrives("another release arrives", loneReleasing, false, r.release)
	}
	if s.undo {
		arrives("an undo arrives", loneUndoing, !s.lost, r.undone)
	}
}

// request is the script by which a lock is acquired.
func (r loneRules) request(s *loneState, first bool) loneAnswer {
	switch {
	case s.barred && !(first && r.blind):
		return goneLone
	case s.own():
		if s.px = loneTTL; !(first || r.staysLone) {
			s.key, s.recorded = recordedOwn, true
		}
		return grantedLone
	case s.key != noKey:
		return refusedLone
	case first && (!s.recorded || r.blind), r.staysLone && !s.recorded:
		s.key, s.px = loneOwn, loneTTL
	default:
		s.key, s.px, s.recorded = recordedOwn, loneTTL, true
	}
	s.truth = notEnded
	return grantedLone
}

// release is the script by which the holder releases it.
func (r loneRules) release(s *loneState) loneAnswer {
	switch {
	case s.own():
		s.end(wasReleased, s.key == recordedOwn)
		return okLone
	case s.key == loneRival && r.anyKey:
		s.key, s.px, s.rivalLost = noKey, 0, true
		return okLone
	case s.barred && s.released:
		return okLone
	case s.barred:
		return goneLone
	}
	return unknownLone
}

// undone is the script that takes a request back.
func (r loneRules) undone(s *loneState) loneAnswer {
	switch {
	case s.own():
		s.end(wasReleased, s.key == recordedOwn || !r.forgetsUndo)
	case !s.barred && !r.noBar:
		s.recorded, s.barred = true, true
	}
	return okLone
}
