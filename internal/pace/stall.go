package pace

import (
	"sync/atomic"
	"time"
)

// tick is how often a test looks whether it still gets its turns.
const tick = 10 * time.Millisecond

// watch notes how late this process gets its turns, until it is stopped.
func (t *T) watch() (stop func()) {
	quit, done := make(chan struct{}), make(chan struct{})
	go func() { // ends with stop
		defer close(done)
		for {
			end := t.Step()
			select {
			case <-quit:
				return
			case <-time.After(tick):
			}
			end()
		}
	}()
	return func() {
		close(quit)
		<-done
	}
}

// scale is how many times longer than on a quiet machine the next test's times are. It only grows: what slowed one test
// down is likely to last.
var scale atomic.Int64

func start() int { return max(1, int(scale.Load())) }

func slowDown(to int) {
	for old := scale.Load(); int64(to) > old && !scale.CompareAndSwap(old, int64(to)); old = scale.Load() {
	}
}
