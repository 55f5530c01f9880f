package batch

import "hash/maphash"

// claims has, for the ID of each claim that has operations, the first of these. Further ones stand behind it, and wait
// for the end of those before. IDs are spread over stripes, each with a lock of its own, so that operations which need
// nothing else of the Sender seldom wait for each other. These locks are innermost.
type claims struct {
	seed    maphash.Seed
	stripes *[stripes]stripe
}

// stripes is a power of two.
const stripes = 16

func newClaims() claims {
	cs := claims{seed: maphash.MakeSeed(), stripes: new([stripes]stripe)}
	for i := range cs.stripes {
		cs.stripes[i].buckets = make([]*call, fewClaims)
	}
	return cs
}

func (cs *claims) hash(id string) uint64 { return maphash.String(cs.seed, id) }

// stripe returns where a claim is whose ID has this hash.
func (cs *claims) stripe(hash uint64) *stripe { return &cs.stripes[hash%stripes] }

// add puts a call behind others on the same claim. It is false if there is none.
func (cs *claims) add(c *call) (waits bool) {
	if !c.op.Kind.IsOnClaim() {
		return false
	}
	c.hash = cs.hash(c.op.Claim.ID)
	st := cs.stripe(c.hash)
	st.mu.Lock()
	defer st.mu.Unlock()
	last := st.first(c.op.Claim.ID, c.hash)
	if last == nil {
		st.put(c)
		return false
	}
	for last.behind != nil {
		last = last.behind
	}
	last.behind = c
	return true
}

// remove takes a call out. If that was the first, it returns the one whose turn it is.
func (cs *claims) remove(c *call) (next *call) {
	if !c.op.Kind.IsOnClaim() {
		return nil
	}
	st := cs.stripe(c.hash)
	st.mu.Lock()
	defer st.mu.Unlock()
	first := st.first(c.op.Claim.ID, c.hash)
	if first == c {
		return st.removeFirst(c)
	}
	for before := first; before != nil; before = before.behind {
		if before.behind == c {
			before.behind, c.behind = c.behind, nil
			break
		}
	}
	return nil
}

// admit lets a call gather as soon as it is its turn on its claim.
func (s *Sender) admit(c *call) {
	if !s.claims.add(c) {
		s.gather(c)
	}
}

// settle ends what a call was to its claim, so that the next one can go.
func (s *Sender) settle(c *call) {
	if next := s.claims.remove(c); next != nil {
		s.takesTurn(next)
	}
}

// takesTurn lets a call gather whose turn it is on its claim. It may have been given up since the one before has left
// the claim: then it has left it, too.
func (s *Sender) takesTurn(c *call) {
	if c.state == waiting {
		s.gather(c)
	}
}
