package quorum

import (
	"testing"

	"github.com/holdfast-go/holdfast/internal/model"
)

// Exclusion, checked in every state: three nodes, two clients with a round each, and time. The votes are counted by the
// code that counts them in earnest; tokens are the question of model_test.go.
//
// Modelled: proposals and releases that arrive late, again, or never, at each node by itself; answers that are lost; a
// node that ends a claim by its TTL, bars what was given back, and restarts once without anything; ticks of time, of
// which a TTL has two. Left out: renewals, which count as proposals do, the line, rates of clocks, and tokens.
func TestExclusionInEveryState(t *testing.T) {
	for _, row := range []struct {
		name  string
		rules exclusionRules
		wrong string
	}{
		{name: "no node restarts", rules: exclusionRules{}},
		{name: "a node restarts empty, and waits", rules: exclusionRules{restart: true}},

		{"a holder counts from the answers", exclusionRules{lateCount: true}, twoHold},
		{"a node that restarted votes at once", exclusionRules{restart: true, votesAtOnce: true}, twoHold},
		{"a node waits for less than the longest TTL", exclusionRules{restart: true, shortWait: true}, twoHold},
		{"a node grants what it has granted to others", exclusionRules{overwrites: true}, twoHold},
		{"a node forgets without restarting", exclusionRules{restart: true, unnoticed: true}, twoHold},
		{"what is given back is not barred", exclusionRules{noBar: true}, takesLate},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			m := model.Model[exclusionState]{
				Next: row.rules.next, Wrong: exclusionWrong, Alike: exclusionState.sorted,
			}
			if row.wrong == "" {
				model.Holds(t, m)
			} else {
				model.Breaks(t, m, row.wrong)
			}
		})
	}
}

const (
	twoHold   = "two believe that they have the lock"
	takesLate = "a node has a claim that was given back there"
)

// exclusionRules are how the protocol differs from the right one.
type exclusionRules struct {
	restart     bool // the forgetter does, once
	votesAtOnce bool // it votes without having waited
	shortWait   bool // it waits for less than a TTL
	unnoticed   bool // it keeps its life
	lateCount   bool // a holder counts its time from the answers, and not from when the round began
	overwrites  bool
	noBar       bool
}

const exclusionTTL = 2 // ticks

type exclusionState struct {
	owner   [modelNodes]uint8 // who has the lock there, from 1
	left    [modelNodes]uint8 // how long
	back    [modelNodes][modelClients]bool
	wait    uint8 // how long the forgetter does
	reborn  bool  // the forgetter
	clients [modelClients]exclusionClient
}

// An exclusionClient is one with a round.
type exclusionClient struct {
	phase  exclusionPhase
	age    uint8              // of the round; while it holds: how long the claim is to be believed
	votes  [modelNodes]answer // as it has heard them
	second bool               // the forgetter's vote is from its second life
	waited bool               // the forgetter had waited when the round began
}

type exclusionPhase uint8

const (
	before exclusionPhase = iota
	proposing
	holding
	givingBack
)

func exclusionWrong(s exclusionState) string {
	if s.clients[0].phase == holding && s.clients[1].phase == holding {
		return twoHold
	}
	for n, owner := range s.owner {
		if owner != 0 && s.back[n][owner-1] {
			return takesLate
		}
	}
	return ""
}

// sorted returns the state with the clients, and the two nodes that are alike, in an order of their own.
func (s exclusionState) sorted() exclusionState {
	if s.clients[1].rank() < s.clients[0].rank() {
		s.swapClients()
	}
	if s.rank(2) < s.rank(1) {
		s.owner[1], s.owner[2] = s.owner[2], s.owner[1]
		s.left[1], s.left[2] = s.left[2], s.left[1]
		s.back[1], s.back[2] = s.back[2], s.back[1]
		for c := range s.clients {
			votes := &s.clients[c].votes
			votes[1], votes[2] = votes[2], votes[1]
		}
	}
	return s
}

// rank is what is known of a client but for what it has heard of the nodes that are alike, as one number.
func (cl exclusionClient) rank() int {
	rank := int(cl.phase)<<8 | int(cl.age)<<6 | int(cl.votes[forgetter])<<2
	if cl.second {
		rank |= 2
	}
	if cl.waited {
		rank |= 1
	}
	return rank
}

func (s *exclusionState) swapClients() {
	s.clients[0], s.clients[1] = s.clients[1], s.clients[0]
	for n, owner := range s.owner {
		s.back[n][0], s.back[n][1] = s.back[n][1], s.back[n][0]
		if owner != 0 {
			s.owner[n] = 1 + owner%modelClients
		}
	}
}

// rank is all that is known of a node, as one number.
func (s *exclusionState) rank(n int) int {
	rank := int(s.owner[n])<<2 | int(s.left[n])
	for c, back := range s.back[n] {
		rank = rank<<4 | int(s.clients[c].votes[n])<<1
		if back {
			rank++
		}
	}
	return rank
}

func (r exclusionRules) next(s exclusionState, step func(exclusionState, string)) {
	exclusionTime(s, step)
	if next := s; r.restart && !s.reborn {
		next.reborn = true
		next.owner[forgetter], next.left[forgetter] = 0, 0
		next.back[forgetter] = [modelClients]bool{}
		for c := range next.clients { // a round that goes on began before the life in which the node is to wait
			next.clients[c].waited = r.unnoticed && next.clients[c].waited
		}
		switch {
		case r.unnoticed, r.votesAtOnce:
		case r.shortWait:
			next.wait = exclusionTTL - 1
		default:
			next.wait = exclusionTTL
		}
		step(next, "the first node restarts without anything")
	}
	for c := range s.clients {
		r.client(s, c, step)
		for n := range modelNodes {
			r.network(s, c, n, step)
		}
	}
}

// client tells what a client may do.
func (r exclusionRules) client(s exclusionState, c int, step func(exclusionState, string)) {
	cl := &s.clients[c]
	switch cl.phase {
	case before:
		cl.phase, cl.waited = proposing, s.wait == 0
		step(s, "a client proposes")
	case proposing, holding:
		*cl = exclusionClient{phase: givingBack}
		step(s, "a client gives its claim back")
	}
}

// network tells what happens when a proposal or what gives it back arrives at a node.
func (r exclusionRules) network(s exclusionState, c, n int, step func(exclusionState, string)) {
	if s.clients[c].phase == before {
		return
	}
	said := r.propose(&s, c, n)
	step(s, "a node gets a proposal")
	if cl := &s.clients[c]; cl.phase == proposing && cl.votes[n] == none {
		cl.votes[n] = said
		cl.second = cl.second || n == forgetter && s.reborn
		r.decide(&s, c)
		step(s, "a node's answer arrives")
	}
	if s.clients[c].phase != givingBack {
		return
	}
	s.back[n][c] = true
	if s.owner[n] == uint8(c+1) {
		s.owner[n], s.left[n] = 0, 0
	}
	step(s, "a node gets back what it granted")
}

// propose asks a node for the lock.
func (r exclusionRules) propose(s *exclusionState, c, n int) answer {
	switch {
	case s.back[n][c] && !r.noBar:
		return barred
	case s.owner[n] == uint8(c+1):
		return granted // again; only a renewal makes it live longer
	case s.owner[n] != 0 && !r.overwrites:
		return refused
	}
	s.owner[n], s.left[n] = uint8(c+1), exclusionTTL
	return granted
}

// decide lets a client do what its votes mean.
func (r exclusionRules) decide(s *exclusionState, c int) {
	cl := &s.clients[c]
	votes := make([]vote, modelNodes)
	for n, a := range cl.votes {
		votes[n] = vote{answer: a, token: 1, counts: true}
		if n == forgetter && cl.second {
			votes[n].counts = counts(standing{same: true, waited: cl.waited, remembers: true}, modelNodes)
		}
		if n == forgetter && !cl.second && s.reborn && !r.unnoticed {
			votes[n].counts = false // it is not in that life any more
		}
	}
	age := cl.age
	if r.lateCount {
		age = 0
	}
	switch verdict := judge(votes, 1); {
	case verdict == won && age < exclusionTTL:
		*cl = exclusionClient{phase: holding, age: exclusionTTL - age}
	case verdict != undecided:
		*cl = exclusionClient{phase: givingBack}
	}
}

// exclusionTime tells what a tick does: to leases, to those who believe in them, and to who waits.
func exclusionTime(s exclusionState, step func(exclusionState, string)) {
	now := s
	for n := range s.owner {
		if s.left[n] > 0 {
			if s.left[n]--; s.left[n] == 0 {
				s.owner[n] = 0
			}
		}
	}
	if s.wait > 0 {
		s.wait--
	}
	for c := range s.clients {
		cl := &s.clients[c]
		switch cl.phase {
		case proposing:
			cl.age = min(cl.age+1, exclusionTTL)
		case holding:
			if cl.age--; cl.age == 0 {
				*cl = exclusionClient{phase: givingBack}
			}
		}
	}
	if s != now {
		step(s, "time passes")
	}
}
