package holdfast

import (
	"context"
	"errors"
	"sync"
)

// SyncLocker makes a [sync.Locker] of a lock, for code that takes nothing else. New code is better off with Lock and a
// lease: a sync.Locker can say neither that the lock was not acquired nor that it was lost.
//
// Its Lock waits for as long as it takes, even while the backend does not answer, and begins again at the end of the
// line if somebody breaks its claim. It panics if waiting is useless, for example because the client is closed. Its
// Unlock calls lost with the error if the lock was lost, or could not be released. If lost is nil, Unlock panics
// instead, so that no caller goes on as if the section had been exclusive. As with a [sync.Mutex], any goroutine may
// unlock, and unlocking a lock that is not locked panics.
func SyncLocker(l Locker, lost func(error)) sync.Locker {
	if lost == nil {
		lost = func(err error) { panic(err) }
	}
	return &syncLocker{lock: l, lost: lost}
}

type syncLocker struct {
	lock Locker
	lost func(error)

	mu     sync.Mutex
	leases []*Lease // in the order in which they were acquired: several where some may share the lock, or one was lost
}

func (s *syncLocker) Lock() {
	for pace := newPace(); ; {
		lease, err := s.lock.Lock(context.Background())
		switch {
		case err == nil:
			s.mu.Lock()
			s.leases = append(s.leases, lease)
			s.mu.Unlock()
			return
		case !isSilence(err) && !errors.Is(err, ErrBroken):
			panic(err)
		}
		pace.Pause(context.Background()) // which does not end
	}
}

func (s *syncLocker) Unlock() {
	if err := s.oldest().Release(context.Background()); err != nil {
		s.lost(err)
	}
}

// oldest takes a lease out. Whoever unlocks has one of them, and which one cannot be known: who lost the lock was
// first.
func (s *syncLocker) oldest() *Lease {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.leases) == 0 {
		panic("holdfast: unlock of a lock that is not locked")
	}
	l := s.leases[0]
	s.leases = s.leases[1:]
	return l
}
