package batch

import "hash/maphash"

// claims has, for the ID of each claim that has operations, the first of these. Further ones stand behind it,
// and wait for the end of those before. It is a hash table whose chains go through the calls: a map would cost a lone
// operation in memory a tenth of its time, to add it and to take it out.
type claims struct {
	seed    maphash.Seed
	buckets []*call // each the first of a chain; their number is a power of two
	n       int
}

// fewClaims is how many buckets there are at first, and fullest how many claims each has at most before there are twice
// as many.
const (
	fewClaims = 64
	fullest   = 2
)

func newClaims() claims {
	return claims{seed: maphash.MakeSeed(), buckets: make([]*call, fewClaims)}
}

// chain is where the chain for an ID begins.
func (cs *claims) chain(id string) **call {
	return &cs.buckets[maphash.String(cs.seed, id)&uint64(len(cs.buckets)-1)]
}

// first is the first call on a claim; nil if there is none.
func (cs *claims) first(id string) *call {
	c := *cs.chain(id)
	for c != nil && c.op.Claim.ID != id {
		c = c.next
	}
	return c
}

// put makes a call the first on a claim that has none.
func (cs *claims) put(c *call) {
	if cs.n++; cs.n > fullest*len(cs.buckets) {
		cs.grow()
	}
	at := cs.chain(c.op.Claim.ID)
	c.next, *at = *at, c
}

// grow doubles the number of buckets. It does not become smaller again: there may be as many claims once more.
func (cs *claims) grow() {
	old := cs.buckets
	cs.buckets = make([]*call, 2*len(old))
	for _, c := range old {
		for c != nil {
			next, at := c.next, cs.chain(c.op.Claim.ID)
			c.next, *at = *at, c
			c = next
		}
	}
}

// cut takes out the first call on a claim, and puts the one behind it in its place if there is one.
func (cs *claims) cut(c *call) {
	at := cs.chain(c.op.Claim.ID)
	for *at != c {
		at = &(*at).next
	}
	if next := c.behind; next != nil {
		next.next, *at = c.next, next
	} else {
		*at = c.next
		cs.n--
	}
	c.next = nil
}

// add puts a call behind others on the same claim. It is false if there is none.
func (cs *claims) add(c *call) (waits bool) {
	if !c.op.Kind.IsOnClaim() {
		return false
	}
	last := cs.first(c.op.Claim.ID)
	if last == nil {
		cs.put(c)
		return false
	}
	for last.behind != nil {
		last = last.behind
	}
	last.behind = c
	return true
}

// isFree reports whether there is no operation on the claim.
func (cs *claims) isFree(id string) bool { return cs.first(id) == nil }

// addFirst is add for a call on a claim that is free.
func (cs *claims) addFirst(c *call) {
	if c.op.Kind.IsOnClaim() {
		cs.put(c)
	}
}

// removeFirst is remove for a call that is the first on its claim.
func (cs *claims) removeFirst(c *call) (next *call) {
	if !c.op.Kind.IsOnClaim() {
		return nil
	}
	cs.cut(c)
	next, c.behind = c.behind, nil
	return next
}

// remove takes a call out. If that was the first, it returns the one whose turn it is.
func (cs *claims) remove(c *call) (next *call) {
	if !c.op.Kind.IsOnClaim() {
		return nil
	}
	first := cs.first(c.op.Claim.ID)
	if first == c {
		return cs.removeFirst(c)
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
		s.gather(next)
	}
}
