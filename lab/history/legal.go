package history

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
)

// ErrUndecided says that the search for an order took too long. It is a failure: nothing was shown.
var ErrUndecided = errors.New("no verdict in time; make the history shorter, or its faults fewer")

// Legal returns an error when no order of what visitors did explains the answers that they got, or none was found within
// this time.
//
// What was not answered may have had an effect, and lost it again by a bound; each such attempt becomes a request that
// may or may not have been granted, and its undoing. The end of a lost lease may be no earlier than the last moment at
// which its holder saw itself inside: who is let in before that makes the history illegal.
func (h History) Legal(within time.Duration) error {
	var ops []porcupine.Operation
	for i, v := range h.Visits {
		ops = append(ops, h.operations(i+1, v)...)
	}
	switch porcupine.CheckOperationsTimeout(h.model(), ops, within) {
	case porcupine.Ok:
		return nil
	case porcupine.Unknown:
		return ErrUndecided
	default:
		return fmt.Errorf("%d visits, and no order that explains them", len(h.Visits))
	}
}

// A step is what happens to the lock.
type step struct {
	verb  verb
	owner int // the visit, from 1
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
		return porcupine.Operation{ClientId: v.Visitor, Input: step{what, owner, v.Units, v.Token}, Call: int64(from), Return: int64(to)}
	}
	switch {
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

// exclusive reports whether all want the whole lock.
func (h History) exclusive() bool {
	return !slices.ContainsFunc(h.Visits, func(v Visit) bool { return v.Units != h.Limit })
}

// A state is who is inside, as text so that states compare, and the greatest token of an exclusive lock.
type state struct {
	inside string
	token  uint64
}

func (h History) model() porcupine.Model {
	exclusive := h.exclusive()
	return porcupine.Model{
		Init: func() any { return state{} },
		Step: func(s, input, _ any) (bool, any) {
			ok, next := h.step(s.(state), input.(step), exclusive)
			return ok, next
		},
	}
}

// step says whether a lock in this state can do that, and its state afterwards.
func (h History) step(s state, do step, exclusive bool) (bool, state) {
	inside := parse(s.inside)
	fits := total(inside)+do.units <= h.Limit
	_, isInside := inside[do.owner]
	switch do.verb {
	case acquired:
		if !fits || exclusive && do.token <= s.token {
			return false, s
		}
		inside[do.owner] = do.units
		return true, state{format(inside), max(s.token, do.token)}
	case refused:
		return total(inside) > 0, s
	case perhaps:
		inside[do.owner] = 0 // so that its end comes later, in any order
		if fits {
			inside[do.owner] = do.units
		}
		return true, state{format(inside), s.token}
	default:
		delete(inside, do.owner)
		return isInside, state{format(inside), s.token}
	}
}

func total(inside map[int]int64) (sum int64) {
	for _, units := range inside {
		sum += units
	}
	return sum
}

func format(inside map[int]int64) string {
	var b strings.Builder
	for _, owner := range slices.Sorted(maps.Keys(inside)) {
		fmt.Fprintf(&b, "%d:%d ", owner, inside[owner])
	}
	return b.String()
}

func parse(s string) map[int]int64 {
	inside := make(map[int]int64)
	for _, field := range strings.Fields(s) {
		var owner int
		var units int64
		fmt.Sscanf(field, "%d:%d", &owner, &units)
		inside[owner] = units
	}
	return inside
}
