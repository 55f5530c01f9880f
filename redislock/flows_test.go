package redislock

import (
	"testing"
	"testing/synctest"
	"time"
)

// What is learned of slow answers is forgotten in the time that is said, however late one was: a machine may have
// slept.
func TestSlowAnswersAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, took := range []time.Duration{suspicious, silent / 4, silent, time.Hour} {
			f := newFlows()
			f.calm.Store(int64(time.Since(started))) // in the bubble it is long before that
			f.learn(took)
			want := min(2*took, silent)
			if p := f.patience(); p != want {
				t.Errorf("after an answer that took %v the patience is %v, want %v", took, p, want)
			}
			time.Sleep(forgets * (want - suspicious))
			if p := f.patience(); p != suspicious {
				t.Errorf("%v later it is %v, want %v", forgets*(want-suspicious), p, suspicious)
			}
		}
	})
}
