package history

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
)

// ErrUndecided says that the search for an order took too long. It is a failure: nothing was shown.
var ErrUndecided = errors.New("no verdict in time; make the history shorter, or its faults fewer")

// ErrTooMany says that a history is too long for a verdict.
var ErrTooMany = fmt.Errorf("there are more than %d visits", mostVisits)

// Legal returns an error when no order of what visitors did explains the answers that they got, or none was found
// within this time.
//
// What was not answered may have had an effect, and lost it again by a bound; each such attempt becomes a request that
// may or may not have been granted, and its undoing. The end of a lost lease may be no earlier than the last moment at
// which its holder saw itself inside: who is let in before that makes the history illegal.
//
// So does a visit that was let in after it may have been granted the lock unheard.
//
// A long history is judged in parts, between moments in which nobody had anything to do with the lock. One that has
// more than 512 visits without such a moment is ErrTooMany, unless another part is wrong.
func (h History) Legal(within time.Duration) error {
	var tooMany error
	end := time.Now().Add(within)
	for _, part := range h.parts() {
		if len(part.withUnheard().Visits) > mostVisits {
			tooMany = fmt.Errorf("%d visits: %w", len(part.Visits), ErrTooMany)
			continue
		}
		if err := part.legal(time.Until(end)); err != nil {
			return err
		}
	}
	return tooMany
}

// withUnheard adds the claims that visits may have had before the one with which they were let in.
func (h History) withUnheard() History {
	visits := slices.Clone(h.Visits)
	for _, v := range h.Visits {
		if v.Unheard {
			visits = append(visits,
				Visit{Visitor: v.Visitor, Units: v.Units, Call: v.Call, Return: v.Return, Outcome: Unknown})
		}
	}
	h.Visits = visits
	return h
}

// parts cuts a history where all that began before has ended.
func (h History) parts() (all []History) {
	byCall := func(a, b Visit) int { return cmp.Compare(a.Call, b.Call) }
	visits := slices.SortedStableFunc(slices.Values(h.Visits), byCall)
	var last time.Duration // the end of all visits so far
	var token uint64       // the greatest of them
	for i, v := range visits {
		if i == 0 || v.Call > last {
			all = append(all, History{Limit: h.Limit, Voted: h.Voted, token: token})
		}
		part := &all[len(all)-1]
		part.Visits = append(part.Visits, v)
		last, token = max(last, v.Over()), max(token, v.Token)
	}
	return all
}

// legal judges a part.
func (h History) legal(within time.Duration) error {
	var ops []porcupine.Operation
	all := h.withUnheard()
	for i, v := range all.Visits {
		ops = append(ops, all.operations(i, v)...)
	}
	switch porcupine.CheckOperationsTimeout(all.model(), ops, max(within, time.Millisecond)) {
	case porcupine.Ok:
		return nil
	case porcupine.Unknown:
		return ErrUndecided
	default:
		return fmt.Errorf("%d visits, and no order that explains them:%s", len(h.Visits), h.list())
	}
}

// list tells what there is to explain, a line for each visit.
func (h History) list() string {
	var b strings.Builder
	for _, v := range h.Visits {
		fmt.Fprintf(&b, "\n  visitor %d: %d units, asked %v to %v, ", v.Visitor, v.Units, v.Call, v.Return)
		switch v.Outcome {
		case Got:
			fmt.Fprintf(&b, "token %d, inside until %v", v.Token, v.Seen)
			switch v.Ended {
			case Released:
				fmt.Fprintf(&b, ", released %v to %v", v.Leave, v.Left)
			case Lost:
				b.WriteString(", lost")
			default:
				fmt.Fprintf(&b, ", its release at %v unanswered", v.Leave)
			}
			if v.Unheard {
				b.WriteString(", perhaps not for the first time")
			}
		case Taken:
			b.WriteString("taken")
		case GaveUp:
			b.WriteString("gave up")
		default:
			b.WriteString("unanswered")
		}
	}
	return b.String()
}

// A step is what happens to the lock.
type step struct {
	verb  verb
	owner int // the visit
	units int64
	token uint64
}

type verb int

const (
	acquired verb = iota // was let in, under the token
	refused              // was told that the lock is taken
	perhaps              // was let in if there was room; nobody was told
	released             // was inside until now
	ended                // is inside no more, if it was since perhaps
)

// operations are the steps of a visit, each with the time within which it happened.
func (h History) operations(owner int, v Visit) []porcupine.Operation {
	op := func(what verb, from, to time.Duration) porcupine.Operation {
		return porcupine.Operation{ClientId: v.Visitor, Input: step{what, owner, v.Units, v.Token}, Call: int64(from),
			Return: int64(to)}
	}
	switch {
	case v.Outcome == Taken && h.Voted && h.hasRival(owner):
		return nil
	case v.Outcome == Taken && h.exclusive():
		return []porcupine.Operation{op(refused, v.Call, v.Return)}
	case v.Outcome == Taken: // who waits ahead may be the reason, which the model does not see
		return nil
	case v.Outcome != Got:
		return []porcupine.Operation{op(perhaps, v.Call, v.until()), op(ended, v.Call, v.until())}
	case v.Ended == Released:
		return []porcupine.Operation{op(acquired, v.Call, v.Return), op(released, v.Leave, v.Left)}
	default:
		return []porcupine.Operation{op(acquired, v.Call, v.Return), op(ended, v.Seen, v.until())}
	}
}

// hasRival reports whether another tried at the same time as a visit: what came of that does not matter.
func (h History) hasRival(visit int) bool {
	v := h.Visits[visit]
	for i, rival := range h.Visits {
		if i != visit && rival.Call < v.Return && v.Call < rival.Return {
			return true
		}
	}
	return false
}

// exclusive reports whether all want the whole lock.
func (h History) exclusive() bool {
	return !slices.ContainsFunc(h.Visits, func(v Visit) bool { return v.Units != h.Limit })
}

// mostVisits bounds a history: a state has a bit for each visit.
const mostVisits = 512

// A set is a set of visits.
type set [mostVisits / 64]uint64

func (s set) has(visit int) bool { return s[visit/64]&(1<<(visit%64)) != 0 }

func (s *set) toggle(visit int) { s[visit/64] ^= 1 << (visit % 64) }

// A state is what the lock knows.
type state struct {
	here  set    // visits of which an end is to come
	in    set    // those of them that are inside
	held  int64  // units
	token uint64 // the greatest, if the lock is exclusive
}

func (s state) hash() uint64 {
	h := uint64(s.held) ^ s.token
	for i := range s.here {
		h = (h*31+s.here[i])*31 + s.in[i]
	}
	return h
}

func (h History) model() porcupine.Model {
	exclusive := h.exclusive()
	return porcupine.Model{
		Init: func() any { return state{token: h.token} },
		Step: func(s, input, _ any) (bool, any) {
			next := s.(state)
			ok := next.take(input.(step), h.Limit, exclusive)
			return ok, next
		},
		Hash: func(s any) uint64 { return s.(state).hash() },
	}
}

// take does a step, and reports whether a lock in this state could.
func (s *state) take(do step, limit int64, exclusive bool) bool {
	fits := s.held+do.units <= limit
	switch do.verb {
	case acquired:
		if !fits || exclusive && do.token <= s.token {
			return false
		}
		s.token = max(s.token, do.token)
		s.enter(do)
		return true
	case refused:
		return s.held > 0
	case perhaps:
		if fits {
			s.enter(do)
		} else {
			s.here.toggle(do.owner) // so that its end comes later, in any order
		}
		return true
	default:
		return s.leave(do)
	}
}

func (s *state) enter(do step) {
	s.here.toggle(do.owner)
	s.in.toggle(do.owner)
	s.held += do.units
}

// leave is false for a visit that has not come.
func (s *state) leave(do step) bool {
	if !s.here.has(do.owner) {
		return false
	}
	s.here.toggle(do.owner)
	if s.in.has(do.owner) {
		s.in.toggle(do.owner)
		s.held -= do.units
	}
	return true
}
