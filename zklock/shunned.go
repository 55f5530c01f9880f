package zklock

import (
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/internal/leased"
)

// shunned are servers that have not answered, which all sessions of a driver leave alone for a while if there are
// others.
type shunned struct {
	mu    sync.Mutex
	until map[string]leased.Instant // by host
}

// shunTime is longer than it takes a server that is cut off to notice, and not so long that the others have all
// the work for long.
const shunTime = 10 * time.Second

func (s *shunned) add(host string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.until == nil {
		s.until = make(map[string]leased.Instant)
	}
	s.until[host] = leased.Now().Add(shunTime)
}

func (s *shunned) has(host string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return leased.Now() < s.until[host]
}
