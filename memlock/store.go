package memlock

import (
	"crypto/rand"
	"sync"
	"time"
)

// A store holds locks by name. Those that hold nothing are forgotten.
type store struct {
	began time.Time
	life  string // told from those of other stores by it

	mu    sync.Mutex
	locks map[string]*lock
	uses  int // since the last sweep
	kept  int // what the last sweep left
}

// identity names the store, which is known in one process only.
func (s *store) identity() string { return "mem:" + s.life }

func newStore() *store {
	return &store{began: time.Now(), life: rand.Text(), locks: make(map[string]*lock)}
}

// enter returns a lock as it is now. Nobody else uses the store until leave.
func (s *store) enter(name string) *lock {
	s.mu.Lock()
	now := time.Now()
	s.sweep(now)
	l := s.lock(name, now)
	l.advance(now)
	return l
}

func (s *store) leave(name string, l *lock) {
	s.arm(name, l)
	s.forget(name, l)
	s.mu.Unlock()
}

// lock returns the lock of this name, making it when it is not there.
func (s *store) lock(name string, now time.Time) *lock {
	l := s.locks[name]
	if l == nil {
		l = newLock(name, s.began, now)
		s.locks[name] = l
	}
	return l
}

func (s *store) forget(name string, l *lock) {
	if !l.idle() || l.value.Text != "" {
		return
	}
	if l.alarm != nil {
		l.alarm.Stop()
	}
	delete(s.locks, name)
}

// leastUses is how often a small store is used before it is swept.
const leastUses = 64

// sweep drops what has expired from all locks, once for as many uses as there were records after the last time. So it
// costs each use little, needs no goroutine, and garbage never outweighs what is kept by much.
func (s *store) sweep(now time.Time) {
	if s.uses++; s.uses < max(s.kept, leastUses) {
		return
	}
	s.uses, s.kept = 0, 0
	for name, l := range s.locks {
		l.advance(now)
		l.forgetEnds()
		l.watchers.forget(now)
		s.forget(name, l)
		s.kept += 1 + len(l.queue) + len(l.ended)
	}
}
