package quorum

import (
	"math/bits"
	"slices"
	"testing"

	"github.com/holdfast-go/holdfast/internal/effort"
	"github.com/holdfast-go/holdfast/internal/model"
)

// The protocol for tokens, checked in every state that it can reach: three nodes, two clients that acquire twice each,
// messages that are delayed, repeated and lost at will, and locks that anybody gets at any time. Clocks are of no help:
// each client guesses one more than the greatest token that it has heard of. The votes are counted by the code that
// counts them in earnest. docs/redlock.md has the proof, and what it says about a node that forgets.
func TestTokensInEveryState(t *testing.T) {
	soaks := effort.IsSoak()
	for _, row := range []struct {
		name   string
		rules  rules
		broken bool // a token is given out twice, or after a greater one
	}{
		{name: "no node forgets", rules: rules{givesUp: true}},
		// With rounds that are given up, and the race detector, it takes a minute.
		{name: "a node forgets, waits and learns", rules: rules{crash: true, givesUp: soaks}},

		{name: "no second phase", rules: rules{skipWrite: true}, broken: true},
		{name: "an equal token is taken", rules: rules{takesEqual: true}, broken: true},
		{name: "a node that forgot votes at once", rules: rules{crash: true, heal: never}, broken: true},
		{name: "a node that forgot votes after a while", rules: rules{crash: true, heal: waits}, broken: true},
		{name: "a node that forgot learns at once", rules: rules{crash: true, heal: naive}, broken: true},
		{
			name:  "a node that forgot learns from a round that began too early",
			rules: rules{crash: true, heal: hasty}, broken: true,
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			m := model.Model[modelState]{Next: row.rules.successors, Wrong: wrongToken, Most: mostStates}
			m.Alike = func(s modelState) modelState { return row.rules.relevant(s).sorted(row.rules.crash) }
			if row.broken {
				model.Breaks(t, m, tokenRepeats)
			} else {
				model.Holds(t, m)
			}
		})
	}
}

const (
	modelNodes     = 3
	modelClients   = 2
	modelRounds    = 2
	modelProposals = 2
	forgetter      = 0          // the node that forgets; all are alike
	mostStates     = 20_000_000 // with HOLDFAST_SOAK; without it, the tenth
)

const tokenRepeats = "a token is given out twice, or after a greater one"

func wrongToken(s modelState) string {
	if s.wrong {
		return tokenRepeats
	}
	return ""
}

// nobody owns the token of a node if the round has ended that brought it.
const nobody = 0

// rules are how the protocol differs from the right one.
type rules struct {
	skipWrite  bool // a greater token is used without being written
	takesEqual bool // a node takes a token that it has already
	crash      bool // a node forgets everything, once
	heal       heal
	givesUp    bool // a client gives up one round, at any time
}

// heal is how a node that forgot comes to vote again.
type heal int

const (
	// properly it waits until all rounds have ended that it voted in, and then learns from one that began later.
	properly heal = iota
	never         // it votes at once
	waits         // it waits and votes
	naive         // it learns what the others know at some moment, and votes
	hasty         // it learns from any round, and waits besides
)

// A modelState is a state of everything. Its fields are small so that many can be looked at.
type modelState struct {
	counter [modelNodes]uint8 // the greatest token
	owner   [modelNodes]uint8 // the client that has it with the round under way, from 1
	clients [modelClients]modelClient
	sent    [modelClients][modelProposals]uint8 // by rounds under way: what may still arrive, once more
	strays  uint32                              // tokens that were sent by rounds that have ended: the same
	given   uint32                              // tokens that were returned
	most    uint8                               // of those
	crashed bool
	waited  bool // all rounds have ended that began before the crash
	healed  bool // naively
	gaveUp  bool
	wrong   bool // a client was given a token that it must not be
}

type modelClient struct {
	round    uint8 // how many have ended
	proposal uint8 // the number of the one under way; zero between rounds
	token    uint8
	heard    uint8             // the greatest token
	floor    uint8             // the greatest token that was returned when the round began
	votes    [modelNodes]uint8 // 0: none; otherwise the token that the node told of: its own one, or the one it took
	reborn   bool              // the forgetter's vote is from its second life
	early    bool              // the round began before the crash
	late     bool              // the round began when the forgetter had waited
	filled   bool              // the forgetter has learnt from a round of this client
}

// relevant returns the state without what makes no difference any more: messages without a vote whose token no node
// takes again, what a client knows that begins no more rounds, and tokens that nobody may be given anyway.
func (r rules) relevant(s modelState) modelState {
	taken := slices.Min(s.counter[:]) // by all nodes, for good
	if r.takesEqual || r.crash && !s.crashed {
		taken = 0
	}
	s.strays = above(s.strays, taken)
	floor := s.most
	for c := range s.clients {
		cl := &s.clients[c]
		switch {
		case cl.proposal != 0:
			floor = min(floor, cl.floor)
		case cl.round == modelRounds:
			cl.heard, cl.filled = 0, false
		}
		for i := range s.sent[c] {
			if i+1 < int(cl.proposal) && s.sent[c][i] <= taken {
				s.sent[c][i] = 0
			}
		}
	}
	s.given = above(s.given, floor)
	return s
}

// above are the tokens of a set that are greater than one.
func above(set uint32, token uint8) uint32 { return set >> (token + 1) << (token + 1) }

// sorted returns the state with the clients, and the nodes that are alike, in an order of their own: states that differ
// in it alone are one.
func (s modelState) sorted(crash bool) modelState {
	if s.clients[1].rank() < s.clients[0].rank() {
		s.swapClients()
	}
	first := 0
	if crash {
		first = forgetter + 1
	}
	for i := first; i < modelNodes; i++ {
		for j := i; j > first && s.rank(j) < s.rank(j-1); j-- {
			s.swap(j, j-1)
		}
	}
	return s
}

// rank is most of what is known of a client, as one number.
func (cl modelClient) rank() (sum uint64) {
	for _, part := range []uint8{cl.round, cl.proposal, cl.token, cl.heard, cl.floor} {
		sum = sum<<8 | uint64(part)
	}
	for _, flag := range []bool{cl.reborn, cl.early, cl.late, cl.filled} {
		sum <<= 1
		if flag {
			sum++
		}
	}
	return sum
}

func (s *modelState) swapClients() {
	s.clients[0], s.clients[1] = s.clients[1], s.clients[0]
	s.sent[0], s.sent[1] = s.sent[1], s.sent[0]
	for n, owner := range s.owner {
		if owner != nobody {
			s.owner[n] = 1 + owner%modelClients
		}
	}
}

// rank is all that is known of a node, as one number.
func (s *modelState) rank(n int) (sum uint64) {
	for _, part := range []uint8{s.counter[n], s.owner[n], s.clients[0].votes[n], s.clients[1].votes[n]} {
		sum = sum<<8 | uint64(part)
	}
	return sum
}

func (s *modelState) swap(i, j int) {
	s.counter[i], s.counter[j] = s.counter[j], s.counter[i]
	s.owner[i], s.owner[j] = s.owner[j], s.owner[i]
	for c := range s.clients {
		votes := &s.clients[c].votes
		votes[i], votes[j] = votes[j], votes[i]
	}
}

// successors tells which states may follow.
func (r rules) successors(s modelState, step func(modelState, string)) {
	r.faults(s, step)
	r.stray(s, step)
	for c := range s.clients {
		r.deliver(s, c, step)
		cl := s.clients[c]
		switch {
		case cl.proposal == 0 && int(cl.round) < modelRounds:
			step(r.begin(s, c), "a client begins a round")
		case cl.proposal != 0 && r.givesUp && !s.gaveUp:
			next := endRound(s, c)
			next.gaveUp = true
			step(next, "a client gives its round up")
		}
	}
}

// faults tells what happens to the node that forgets.
func (r rules) faults(s modelState, step func(modelState, string)) {
	switch {
	case !r.crash:
	case !s.crashed:
		s.crashed = true
		s.counter[forgetter], s.owner[forgetter] = 0, 0
		for c := range s.clients {
			s.clients[c].early = s.clients[c].proposal != 0
		}
		step(s, "the first node forgets everything")
	case !s.healed && r.heal == naive:
		s.healed = true
		s.counter[forgetter], s.owner[forgetter] = max(s.counter[1], s.counter[2]), 0
		step(s, "it learns what the others know now")
	case !s.waited:
		for _, cl := range s.clients {
			if cl.early {
				return
			}
		}
		s.waited = true
		step(s, "it has waited")
	}
}

// begin starts a round of a client with a guess.
func (r rules) begin(s modelState, c int) modelState {
	cl := &s.clients[c]
	cl.token, cl.floor, cl.late = cl.heard+1, s.most, s.waited
	r.propose(&s, c)
	return s
}

// propose sends a token to all nodes.
func (r rules) propose(s *modelState, c int) {
	cl := &s.clients[c]
	cl.proposal++
	cl.votes, cl.reborn = [modelNodes]uint8{}, false
	s.sent[c][cl.proposal-1] = cl.token
}

// deliver tells what happens when anything that a round under way has sent arrives at any node, and its answer arrives
// or not.
func (r rules) deliver(s modelState, c int, step func(modelState, string)) {
	for i, token := range s.sent[c] {
		if token == 0 {
			continue
		}
		for n := range modelNodes {
			next := s
			told := r.apply(&next, n, token, uint8(c+1))
			if next != s {
				step(next, "a node takes a token")
			}
			cl := &next.clients[c]
			if int(cl.proposal) == i+1 && cl.votes[n] == 0 {
				cl.votes[n] = told
				cl.heard = max(cl.heard, told)
				cl.reborn = cl.reborn || n == forgetter && s.crashed
				r.decide(&next, c)
				step(next, "a node's answer arrives")
			}
		}
	}
}

// stray tells what happens when something arrives at any node that a round has sent which has ended.
func (r rules) stray(s modelState, step func(modelState, string)) {
	for rest := s.strays; rest != 0; rest &= rest - 1 {
		token := uint8(bits.TrailingZeros32(rest))
		for n := range modelNodes {
			if next := s; token > next.counter[n] || r.takesEqual {
				r.apply(&next, n, token, nobody)
				step(next, "a node takes a token of a round that has ended")
			}
		}
	}
}

// apply lets a node take a token that is greater than its own, and returns what it tells: the token if this round of
// this client has it from now on, and otherwise a greater one.
func (r rules) apply(s *modelState, n int, token, owner uint8) (told uint8) {
	switch {
	case token > s.counter[n], r.takesEqual && token == s.counter[n]:
		s.counter[n], s.owner[n] = token, owner
		return token
	case token == s.counter[n] && owner == s.owner[n]: // it arrived once more
		return token
	}
	return s.counter[n] + 1
}

// decide lets a client do what its votes mean, at once.
func (r rules) decide(s *modelState, c int) {
	cl := &s.clients[c]
	votes := r.votes(s, *cl)
	switch verdict := judge(votes, uint64(cl.token)); {
	case verdict == won:
		r.give(s, c, cl.token, votes)
	case verdict == behind && r.skipWrite:
		r.give(s, c, uint8(next(votes, uint64(cl.token))), votes)
	case verdict == behind && cl.proposal < modelProposals:
		cl.token = uint8(next(votes, uint64(cl.token)))
		r.propose(s, c)
	case verdict != undecided:
		*s = endRound(*s, c)
	}
}

// votes are what a client has heard, as the driver counts it.
func (r rules) votes(s *modelState, cl modelClient) []vote {
	votes := make([]vote, modelNodes)
	for n, v := range cl.votes {
		if v == 0 {
			continue
		}
		votes[n] = vote{answer: granted, token: uint64(v), counts: true}
		if n == forgetter && cl.reborn {
			votes[n].counts = r.counts(s, cl)
		}
	}
	return votes
}

// counts reports whether the vote counts that the forgetter gave in its second life.
func (r rules) counts(s *modelState, cl modelClient) bool {
	switch r.heal {
	case never:
		return true
	case waits:
		return cl.late
	case naive:
		return s.healed
	}
	return counts(standing{same: true, waited: cl.late, filled: cl.filled, forgetful: 1}, modelNodes)
}

// give returns a token to the client, which must not be one that was given before, nor smaller than one of those that
// were when the round began.
func (r rules) give(s *modelState, c int, token uint8, votes []vote) {
	cl := &s.clients[c]
	s.wrong = s.given&(1<<token) != 0 || token <= cl.floor
	s.given |= 1 << token
	s.most = max(s.most, token)
	cl.heard = max(cl.heard, token)
	learnt := cl.reborn && votes[forgetter].token >= uint64(token)
	cl.filled = cl.filled || learnt && (cl.late || r.heal == hasty)
	*s = endRound(*s, c)
}

// endRound ends a client's round. What it has sent may arrive later, when it does not matter any more who had sent it.
func endRound(s modelState, c int) modelState {
	for i, token := range s.sent[c] {
		if token != 0 {
			s.strays |= 1 << token
		}
		s.sent[c][i] = 0
	}
	for n, owner := range s.owner {
		if owner == uint8(c+1) {
			s.owner[n] = nobody
		}
	}
	cl := &s.clients[c]
	cl.round++
	cl.proposal, cl.token, cl.floor = 0, 0, 0
	cl.votes, cl.reborn, cl.early, cl.late = [modelNodes]uint8{}, false, false, false
	return s
}
