package boottime

import (
	"testing"
	"testing/synctest"
	"time"
)

// A board without a battery begins its life long ago. Only bubbles have readings without a monotonic part.
func TestInBubble(t *testing.T) {
	for _, year := range []int{1971, 2000, 2010, 2090} {
		t0 := time.Now()
		if then := t0.Add(time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC).Sub(t0)); InBubble(then) {
			t.Errorf("in %d a real clock passes for a bubble's", year)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		if !InBubble(time.Now()) {
			t.Error("a bubble's clock passes for a real one")
		}
	})
}
