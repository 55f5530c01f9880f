package classic

import "sync"

// ReadersFirst is the readers-writer lock of the first solution (Courtois, Heymans, Parnas 1971): a reader waits only
// while somebody writes. It assumes that at some time nobody reads. Where readers keep coming, the writer waits for
// ever.
type ReadersFirst struct {
	mu      sync.Mutex
	readers int
	writing sync.Mutex
}

// RLock waits while somebody writes.
func (l *ReadersFirst) RLock() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.readers++; l.readers == 1 {
		l.writing.Lock()
	}
}

// RUnlock lets writers in if nobody reads any more.
func (l *ReadersFirst) RUnlock() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.readers--; l.readers == 0 {
		l.writing.Unlock()
	}
}

// Lock waits until nobody reads or writes.
func (l *ReadersFirst) Lock() { l.writing.Lock() }

// Unlock lets others in.
func (l *ReadersFirst) Unlock() { l.writing.Unlock() }
