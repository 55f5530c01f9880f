package zklock

import (
	"sync"
	"time"
)

// shunned are servers that have not answered, which all sessions of a driver leave alone for a while if there are others.
type shunned struct {
	mu    sync.Mutex
	until map[string]instant // by host
}

// shunTime is longer than it takes a server that is cut off to notice, and not so long that the others have all the work
// for long.
const shunTime = 10 * time.Second

func (s *shunned) add(host string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.until == nil {
		s.until = make(map[string]instant)
	}
	s.until[host] = now().add(shunTime)
}

func (s *shunned) has(host string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return now() < s.until[host]
}
