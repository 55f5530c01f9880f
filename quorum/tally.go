package quorum

import (
	"slices"
	"time"
)

// A verdict is what the votes so far mean for a proposal.
type verdict int

const (
	undecided verdict = iota // the votes that are still to come matter
	won                      // a majority has the claim, under the token
	behind                   // a majority has the claim, but knows greater tokens: propose a greater one
	taken                    // others have the lock on so many nodes that no majority is left but with those far ahead
	ended                    // the claim has ended on so many nodes that no majority is left
	divided                  // no majority is left: on some nodes the claim has ended, on others the lock is taken
	short                    // too few nodes can vote
)

// A vote is what one node answered to a proposal.
type vote struct {
	answer answer
	token  uint64 // the greatest that the node knows; the proposed one if the claim has it
	counts bool   // the node may vote: it has not forgotten what it granted
}

type answer int

const (
	none answer = iota
	granted
	refused // another claim has the lock there
	barred  // the claim has ended there
	failed
)

func majority(nodes int) int { return nodes/2 + 1 }

// judge counts the votes, one for each node, for a token that was proposed to all.
//
// Two majorities share a node. A node accepts greater tokens only, so whoever is told "won" has a token that is greater
// than all for which that was said before the round began. A node that does not count may not be that node.
func judge(votes []vote, proposed uint64) verdict {
	var by [failed + 1]int
	accepted, having, astray := 0, 0, 0
	horizon := horizon(votes, proposed)
	for _, v := range votes {
		by[v.answer]++
		switch {
		case v.answer != granted || !v.counts:
		case v.token > horizon:
			astray++
		case v.token == proposed:
			accepted++
			having++
		default:
			having++
		}
	}
	enough := majority(len(votes))
	spare := len(votes) - enough
	switch {
	case accepted >= enough:
		return won
	case having >= enough:
		return behind
	case by[barred] > spare:
		return ended
	case by[refused] > spare && by[barred]+by[none] <= spare: // of an even number of nodes, either half may say so
		return taken
	case by[none] > 0 && (having+astray+by[none] >= enough || by[refused]+by[none] > spare && by[refused] > 0):
		return undecided
	case by[refused] > 0 && by[refused]+astray > spare:
		return taken
	case by[refused]+by[barred] > spare:
		return divided
	}
	return short
}

// next returns a token greater than all that were heard of, and that a majority may take.
func next(votes []vote, proposed uint64) uint64 {
	horizon := horizon(votes, proposed)
	for _, v := range votes {
		if v.token <= horizon {
			proposed = max(proposed, v.token)
		}
	}
	return proposed + 1
}

// farAhead is by how much greater a token is, in µs, than those of most nodes when it is left alone.
const farAhead = uint64(5 * time.Minute / time.Microsecond)

// horizon is the greatest token that is worth outbidding. Some nodes may know one from the far future, of a client
// whose clock is ahead. The others would refuse a greater one, and are a majority without those nodes: also those who
// have not answered, or have not granted the claim, as they may do so yet.
func horizon(votes []vote, proposed uint64) uint64 {
	tokens := make([]uint64, len(votes))
	for i, v := range votes {
		tokens[i] = proposed
		if v.answer == granted && v.counts {
			tokens[i] = v.token
		}
	}
	slices.Sort(tokens)
	return tokens[majority(len(votes))-1] + farAhead
}

// A standing is what is known about a node that voted.
type standing struct {
	same      bool // it is still in the life in which it voted
	waited    bool // when the round began, all claims had ended that it may have forgotten
	remembers bool // it knows all tokens that matter
	filled    bool // it has taken a token of this name that is greater than all that it may have forgotten
	forgetful int  // how many nodes do not remember
}

// counts reports whether a vote counts.
//
// When more nodes have forgotten than a majority can spare, nobody can know the greatest token any more. Then all nodes
// vote that have waited: the clock in the tokens alone makes them grow.
func counts(s standing, nodes int) bool {
	nobodyKnows := s.forgetful > nodes-majority(nodes)
	return s.same && s.waited && (s.remembers || s.filled || nobodyKnows)
}
