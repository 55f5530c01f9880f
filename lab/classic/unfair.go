package classic

import (
	"math/rand/v2"
	"sync"
	"time"
)

// PollingLock tries, and sleeps for longer and longer when the lock is taken. It assumes that the lock is free most
// of the time. Otherwise whoever has come last tries most often, and those who have waited longest sleep.
type PollingLock struct{ mu sync.Mutex }

// Lock returns once the lock is ours.
func (l *PollingLock) Lock() {
	for pause := 50 * time.Microsecond; !l.mu.TryLock(); pause = min(2*pause, 20*time.Millisecond) {
		time.Sleep(pause/2 + rand.N(pause)) // this is the algorithm: it has nothing to wait for
	}
}

// Unlock gives it back.
func (l *PollingLock) Unlock() { l.mu.Unlock() }

// BroadcastLock wakes all who wait when it is given back, and the fastest has it. It assumes that few wait. With many
// each hand-off wakes all of them for nothing but one, and nobody has a place.
type BroadcastLock struct {
	mu    sync.Mutex
	taken bool
	freed chan struct{} // closed when the lock is given back

	Wakes int // how often somebody was woken, for the holder to read
}

// Lock returns once the lock is ours.
func (l *BroadcastLock) Lock() {
	for {
		l.mu.Lock()
		if !l.taken {
			l.taken, l.freed = true, make(chan struct{})
			l.mu.Unlock()
			return
		}
		freed := l.freed
		l.mu.Unlock()
		<-freed
		l.mu.Lock()
		l.Wakes++
		l.mu.Unlock()
	}
}

// Unlock gives it back, and wakes everybody.
func (l *BroadcastLock) Unlock() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.taken = false
	close(l.freed)
}
