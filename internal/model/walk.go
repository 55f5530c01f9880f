package model

import (
	"fmt"
	"hash/maphash"
)

// A Model is a protocol in small. S is its state: a value that says all that matters, and nothing else.
type Model[S comparable] struct {
	Start S

	// Next calls step for each state that may follow, with a few words about what happens on the way there.
	Next func(s S, step func(to S, what string))

	// Wrong says what is wrong in a state; "" if nothing is.
	Wrong func(S) string

	// Good, if there is one, tells which states are good, and from every state one of these must be reachable. It is
	// for what must be possible in the end, whatever went wrong before.
	Good func(S) bool

	// Alike, if there is one, returns the state that stands for all that differ in names alone.
	Alike func(S) S

	// Most is how many states there may be; DefaultMost if it is zero.
	Most int
}

// DefaultMost is how many states a model may have unless it says otherwise.
const DefaultMost = 2_000_000

// A Result is what a walk has found.
type Result[S comparable] struct {
	States int
	Steps  int
	Wrong  string    // what is wrong, in the last state of Trace; "" if nothing is
	Trace  []Step[S] // the shortest way there; its first step is the start
}

// A Step is a state, and what has led to it from the one before.
type Step[S comparable] struct {
	What string
	To   S
}

// NoWayOn is what is wrong in a state from which no good one can be reached.
const NoWayOn = "nothing good can happen any more"

// Walk looks at all states, up to the first in which something is wrong. The error says that there are too many.
func (m Model[S]) Walk() (Result[S], error) {
	w := walk[S]{model: m, seed: maphash.MakeSeed(), number: make(map[uint64]int32)}
	wrong, err := w.run()
	r := Result[S]{States: len(w.visits), Steps: w.steps}
	if err == nil && wrong == nowhere && m.Good != nil {
		if wrong = w.hopeless(); wrong != nowhere {
			r.Wrong = NoWayOn
		}
	}
	if err != nil || wrong == nowhere {
		return r, err
	}
	if r.Wrong == "" {
		r.Wrong = m.Wrong(w.visits[wrong].state)
	}
	r.Trace = w.wayTo(wrong)
	return r, nil
}

// A walk is one that goes on.
type walk[S comparable] struct {
	model  Model[S]
	seed   maphash.Seed
	number map[uint64]int32 // of a visit, by the hash of its state
	visits []visit[S]       // in the order in which they were found
	edges  []edge           // for Good alone
	steps  int
}

// A visit is a state that was found, and how.
type visit[S comparable] struct {
	state S
	what  string
	from  int32
}

// An edge is a step from one visit to another.
type edge struct{ from, to int32 }

const nowhere = -1

// run looks at all states. It returns the number of the first that is wrong, or nowhere.
func (w *walk[S]) run() (wrong int32, err error) {
	most := w.model.Most
	if most == 0 {
		most = DefaultMost
	}
	w.find(nowhere, w.model.Start, "start")
	for at := int32(0); int(at) < len(w.visits); at++ {
		state := w.visits[at].state
		if w.model.Wrong(state) != "" {
			return at, nil
		}
		w.model.Next(state, func(to S, what string) {
			if to != state { // what changes nothing is no step
				w.find(at, to, what)
			}
		})
		if len(w.visits) > most {
			return nowhere, fmt.Errorf("there are more than %d states; make the model smaller", most)
		}
	}
	return nowhere, nil
}

// find notes a step to a state, which may be a new one.
func (w *walk[S]) find(from int32, to S, what string) {
	if w.model.Alike != nil {
		to = w.model.Alike(to)
	}
	sum := maphash.Comparable(w.seed, to)
	at, old := w.number[sum]
	switch {
	case !old:
		at = int32(len(w.visits))
		w.number[sum] = at
		w.visits = append(w.visits, visit[S]{to, what, from})
	case w.visits[at].state != to: // never, in the life of this universe
		panic("model: two states have the same hash")
	}
	w.steps++
	if w.model.Good != nil && from != nowhere {
		w.edges = append(w.edges, edge{from, at})
	}
}

// hopeless returns the first state from which no good one can be reached, or nowhere.
func (w *walk[S]) hopeless() int32 {
	hopeful := make([]bool, len(w.visits))
	var todo []int32
	reach := func(at int32) {
		if !hopeful[at] {
			hopeful[at] = true
			todo = append(todo, at)
		}
	}
	for at := range w.visits {
		if w.model.Good(w.visits[at].state) {
			reach(int32(at))
		}
	}
	before, first := w.predecessors()
	for len(todo) > 0 {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, from := range before[first[at]:first[at+1]] {
			reach(from)
		}
	}
	for at, ok := range hopeful {
		if !ok {
			return int32(at)
		}
	}
	return nowhere
}

// predecessors returns the states before each state: those of state i are before[first[i]:first[i+1]].
func (w *walk[S]) predecessors() (before, first []int32) {
	first = make([]int32, len(w.visits)+2)
	for _, e := range w.edges {
		first[e.to+2]++
	}
	for i := 2; i < len(first); i++ {
		first[i] += first[i-1]
	}
	before = make([]int32, len(w.edges))
	for _, e := range w.edges {
		before[first[e.to+1]] = e.from
		first[e.to+1]++
	}
	return before, first
}

// wayTo returns the steps that led to a state.
func (w *walk[S]) wayTo(at int32) []Step[S] {
	var back []Step[S]
	for ; at != nowhere; at = w.visits[at].from {
		back = append(back, Step[S]{w.visits[at].what, w.visits[at].state})
	}
	for i, j := 0, len(back)-1; i < j; i, j = i+1, j-1 {
		back[i], back[j] = back[j], back[i]
	}
	return back
}
