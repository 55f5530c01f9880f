package servertables

import (
	"fmt"
	"slices"
	"testing"

	"github.com/holdfast-go/holdfast/driver"
)

// A connection has so many wake locks at most, of which a claim that waits and may share its lock has two, and none is
// counted any more that was released.
func TestWakeLocksAreBounded(t *testing.T) {
	var w wakeLocks
	const most = 5
	claim := func(i int) driver.Claim {
		return driver.Claim{Name: "jobs", ID: fmt.Sprint(i), Weight: 1, Limit: int64(1 + i%2)}
	}
	taken := 0
	for i := 0; i < 10 && w.wanted(claim(i).ID, most); i++ {
		w.taken(claim(i), false)
		taken++
	}
	if taken != 4 { // 1 + 2 + 1, and 2 more, since 4 are fewer than 5
		t.Errorf("%d claims have wake locks", taken)
	}
	granted := answer{}
	granted.status.Granted = true
	if stale := w.forgetStale(claim(1).ID, granted); !slices.Equal(stale, []string{wakeAtGrant}) {
		t.Errorf("to be released is %v, want the one for its grant", stale)
	}
	if w.wanted("next", most) {
		t.Error("there are five still")
	}
	w.released(claim(0).ID)
	if !w.wanted("next", most) {
		t.Error("there is room for one")
	}
	gone, both := answer{outcome: isGone}, []string{wakeAtEnd, wakeAtGrant}
	if stale := w.forgetStale(claim(3).ID, gone); !slices.Equal(stale, both) {
		t.Errorf("to be released is %v, want both", stale)
	}
	for i := range taken {
		w.released(claim(i).ID)
	}
	if w.count != 0 || len(w.byID) > 0 || len(w.names) > 0 {
		t.Errorf("left: %d, %v, %v", w.count, w.byID, w.names)
	}
}
