package batch

import "sync"

// A stripe has the claims with some of the hashes. It is a hash table whose chains go through the calls: a map would
// cost a lone operation in memory a tenth of its time, to add it and to take it out.
type stripe struct {
	mu      sync.Mutex
	buckets []*call // each the first of a chain; their number is a power of two
	n       int
	shared  *sharedContext // of the last operation that was sent alone; nil before the first

	_ [64]byte // so that no other stripe is on the same line of a processor's cache
}

// fewClaims is how many buckets there are at first, and fullest how many claims each has at most before there are twice
// as many.
const (
	fewClaims = 16
	fullest   = 2
)

// chain is where the chain for a hash begins. All hashes of a stripe have the same remainder.
func (st *stripe) chain(hash uint64) **call {
	return &st.buckets[hash/stripes&uint64(len(st.buckets)-1)]
}

// first is the first call on a claim; nil if there is none.
func (st *stripe) first(id string, hash uint64) *call {
	c := *st.chain(hash)
	for c != nil && c.op.Claim.ID != id {
		c = c.next
	}
	return c
}

// put makes a call the first on a claim that has none.
func (st *stripe) put(c *call) {
	if st.n++; st.n > fullest*len(st.buckets) {
		st.grow()
	}
	at := st.chain(c.hash)
	c.next, *at = *at, c
}

// grow doubles the number of buckets. It does not become smaller again: there may be as many claims once more.
func (st *stripe) grow() {
	old := st.buckets
	st.buckets = make([]*call, 2*len(old))
	for _, c := range old {
		for c != nil {
			next, at := c.next, st.chain(c.hash)
			c.next, *at = *at, c
			c = next
		}
	}
}

// removeFirst takes out a call that is the first on its claim, and returns the one whose turn it is.
func (st *stripe) removeFirst(c *call) (next *call) {
	st.cut(c)
	next, c.behind = c.behind, nil
	return next
}

// cut takes out the first call on a claim, and puts the one behind it in its place if there is one.
func (st *stripe) cut(c *call) {
	at := st.chain(c.hash)
	for *at != c {
		at = &(*at).next
	}
	if next := c.behind; next != nil {
		next.next, *at = c.next, next
	} else {
		*at = c.next
		st.n--
	}
	c.next = nil
}
