package holdfast

import (
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// ids chooses the IDs of claims. None is used twice: a late copy of an old request must not act on a new claim. Where
// the claim before on the same lock has ended for certain its series goes on, so that a backend need not remember
// both.
type ids struct {
	mu   sync.Mutex
	last map[series]string
}

// A series is what claims have in common whose IDs can be of one series.
type series struct {
	name string
	ttl  time.Duration
}

// mostSeries bounds how many are remembered. One that is forgotten costs the backend a little memory, for some TTLs.
const mostSeries = 4096

// next returns the ID for a new claim.
func (s *ids) next(of series) string {
	s.mu.Lock()
	last := s.last[of]
	delete(s.last, of)
	s.mu.Unlock()
	return driver.NextID(last)
}

// over says that a claim with an ID of ours has ended, by the backend's answer, and that nobody asks about it any more.
func (s *ids) over(c driver.Claim) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last == nil {
		s.last = make(map[series]string)
	}
	for any := range s.last {
		if len(s.last) < mostSeries {
			break
		}
		delete(s.last, any)
	}
	s.last[series{c.Name, c.TTL}] = c.ID
}
