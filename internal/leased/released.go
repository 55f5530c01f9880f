package leased

import (
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// Released are claims that a client has released without a note on the server. Each is remembered for as long as the
// server would keep the note, and at most for some times as long, so that a client which acquires and releases all the
// time has little to do for it. The zero value is ready for use.
type Released struct {
	mu     sync.Mutex
	recent generation
	before generation
}

// A generation is the claims that were released at about one time. It begins to be forgotten when the one after it is
// as old as any of its claims is to be remembered.
type generation struct {
	tokens map[claimID]uint64
	since  Instant
	span   time.Duration // for which its claims are remembered at least
}

// Add remembers a claim whose longest TTL this was.
func (r *Released) Add(c driver.Claim, longest time.Duration) {
	now := Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.recent.tokens == nil || now.Sub(r.recent.since) >= max(r.recent.span, r.before.span) {
		r.before, r.recent = r.recent, generation{tokens: make(map[claimID]uint64), since: now}
	}
	r.recent.tokens[idOf(c)] = c.Token
	r.recent.span = max(r.recent.span, longest+TombstoneGrace)
}

// Find returns what is remembered of a claim; false where nothing is.
func (r *Released) Find(c driver.Claim) (Tombstone, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	token, ok := r.recent.tokens[idOf(c)]
	if !ok {
		token, ok = r.before.tokens[idOf(c)]
	}
	return Tombstone{Released: true, Token: token}, ok
}
