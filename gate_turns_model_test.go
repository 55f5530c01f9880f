package holdfast

import (
	"cmp"
	"slices"
	"testing"

	"github.com/holdfast-go/holdfast/internal/model"
)

// How often a hold is handed on in a row, whoever waits at the backend. The counting is done by the code that does it
// in earnest.
//
// Modelled: a hold that is handed on whenever it may be, questions of the gate, renewals that ask the same besides, and
// answers that come late and in any order; rivals at the backend, who come and leave at any time. Left out: whose lease
// it is (gate_model_test.go), and deadlines.
func TestTurnsInEveryState(t *testing.T) {
	for _, row := range []struct {
		name  string
		most  int
		rules turnsRules
		wrong string
	}{
		{name: "once", most: 1},
		{name: "twice", most: 2},
		{name: "four times, so that the question is sent early", most: 4},

		{"any answer clears what was passed when it came", 4, turnsRules{clearsNow: true}, tooOften},
		{"any answer clears what was passed when the gate asked", 4, turnsRules{oldCounts: true}, tooOften},
		{"an answer that rivals wait clears too", 4, turnsRules{allClear: true}, tooOften},
		{"a hold that is kept for an answer is forgotten", 2, turnsRules{staysPaused: true}, model.NoWayOn},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			row.rules.most = row.most
			m := model.Model[turnsState]{
				Next: row.rules.next, Wrong: row.rules.wrong, Good: row.rules.good, Alike: turnsState.ranked,
			}
			if row.wrong == "" {
				model.Holds(t, m)
			} else {
				model.Breaks(t, m, row.wrong)
			}
		})
	}
}

const tooOften = "the hold is handed on more often than allowed while somebody else waits"

// turnsRules are how the counting differs from the right one.
type turnsRules struct {
	most        int
	clearsNow   bool
	oldCounts   bool
	allClear    bool
	staysPaused bool
}

const (
	turnsPasses  = 9 // so often the hold may be handed on in all
	turnsAnswers = 2 // so many are under way at most
)

type turnsState struct {
	turns     turns
	passes    int
	clock     instant // goes on with each question
	contended bool    // by the newest answer
	rival     bool    // waits at the backend
	since     int     // passes when it came
	over      bool    // the hold was given back
	asked     [turnsAnswers]turnsQuestion
}

// A turnsQuestion is one to the backend; its answer is under way once it was read there.
type turnsQuestion struct {
	sent     instant
	answered bool
	rival    bool
}

// ranked returns the state with its instants counted from one: only their order matters.
func (s turnsState) ranked() turnsState {
	instants := []*instant{&s.turns.at}
	for i := range s.asked {
		instants = append(instants, &s.asked[i].sent)
	}
	slices.SortFunc(instants, func(a, b *instant) int { return cmp.Compare(*a, *b) })
	rank, last := instant(0), instant(0)
	for _, at := range instants {
		if *at > last {
			last = *at
			rank++
		}
		if *at != 0 {
			*at = rank
		}
	}
	s.clock = rank
	return s
}

func (r turnsRules) wrong(s turnsState) string {
	if s.rival && s.passes-s.since > r.most {
		return tooOften
	}
	return ""
}

// good reports whether somebody was given the lock: the rival, or as many visitors as there are.
func (r turnsRules) good(s turnsState) bool { return s.over || s.passes >= turnsPasses }

func (r turnsRules) next(s turnsState, step func(turnsState, string)) {
	if s.over || s.passes >= turnsPasses {
		return
	}
	next := s
	if s.rival {
		next.rival, next.since = false, 0
		step(next, "the rival leaves")
	} else {
		next.rival, next.since = true, s.passes
		step(next, "a rival comes")
	}
	if next = s; next.question() {
		step(next, "a renewal is sent")
	}
	for i, q := range s.asked {
		switch next = s; {
		case q.sent == 0:
		case !q.answered:
			next.asked[i].answered, next.asked[i].rival = true, s.rival
			step(next, "a question is read")
		default:
			next.asked[i] = turnsQuestion{}
			r.answered(&next, q)
			step(next, "an answer arrives")
		}
	}
	if next = s; !s.turns.paused {
		r.pass(&next)
		step(next, "the lease is released")
	}
}

// question sends one, if not too many are under way.
func (s *turnsState) question() bool {
	for i, q := range s.asked {
		if q.sent == 0 {
			s.clock++
			s.asked[i].sent = s.clock
			return true
		}
	}
	return false
}

// pass is gates.pass, with visitors enough.
func (r turnsRules) pass(s *turnsState) {
	switch {
	case s.turns.left(s.passes, r.most) > 0:
		r.serveNext(s)
	case s.contended:
		s.over = true
	default:
		s.turns.paused = true
	}
}

func (r turnsRules) serveNext(s *turnsState) {
	s.passes++
	if s.turns.isDue(s.passes, r.most) {
		s.turns.ask(s.passes, s.clock+1)
		s.question() // one that is not sent waits for the next renewal
	}
}

// answered is gates.answered.
func (r turnsRules) answered(s *turnsState, q turnsQuestion) {
	s.contended = q.rival
	t := &s.turns
	switch {
	case r.clearsNow && !q.rival:
		t.cleared = s.passes
	case r.oldCounts && !q.rival, r.allClear:
		t.cleared = t.asked
	default:
		t.hear(q.sent, q.rival)
	}
	if !t.paused || r.staysPaused {
		return
	}
	if q.rival {
		s.over, t.paused = true, false
	} else if t.left(s.passes, r.most) > 0 {
		t.paused = false
		r.serveNext(s)
	}
}
