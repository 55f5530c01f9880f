package batch

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// Operations that gather while another one of the lane leads leave without delay, also if that one then has to wait for
// its claim. Here both are on one claim, so whichever leads waits for the other if that has gathered meanwhile.
func TestGatheredBehindALeaderThatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(echo{}, nil)
		op := driver.Op{Kind: driver.OpRelease, Claim: driver.Claim{ID: "a"}}
		s.lane(s.laneKey(&op, time.Second)).returning.Add(1) // so none goes alone at once
		for range 1000 {
			var both sync.WaitGroup
			for range 2 {
				both.Go(func() {
					if a := s.Do(t.Context(), op, time.Second); a.Err != nil {
						t.Error(a.Err)
					}
				})
			}
			if both.Wait(); t.Failed() {
				return
			}
		}
	})
}
