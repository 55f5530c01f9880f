package classic

import (
	"runtime"
	"sync/atomic"
)

// SpinLock tries until it succeeds. It assumes that the lock is held for a few instructions, and that there is a
// processor for each who wants it. Otherwise it burns the processors that the holder needs, and whoever happens to
// run when the lock is free has it: nobody has a place.
type SpinLock struct{ taken atomic.Bool }

// Lock returns once the lock is ours, however long that takes.
func (l *SpinLock) Lock() {
	for !l.taken.CompareAndSwap(false, true) {
		runtime.Gosched()
	}
}

// Unlock gives it back.
func (l *SpinLock) Unlock() { l.taken.Store(false) }
