package classic

import (
	"runtime"
	"sync/atomic"
)

// TwoStepSemaphore looks whether a permit is left, and then takes it. It assumes that nobody takes one between the two
// steps. If somebody does, more are inside than there are permits. P must be one step.
type TwoStepSemaphore struct{ permits atomic.Int64 }

// NewTwoStepSemaphore returns a semaphore with so many permits.
func NewTwoStepSemaphore(permits int64) *TwoStepSemaphore {
	s := new(TwoStepSemaphore)
	s.permits.Store(permits)
	return s
}

// P waits for a permit.
func (s *TwoStepSemaphore) P() {
	for s.permits.Load() <= 0 {
		runtime.Gosched()
	}
	runtime.Gosched() // others have their turn between the two steps
	s.permits.Add(-1)
}

// V gives a permit back.
func (s *TwoStepSemaphore) V() { s.permits.Add(1) }
