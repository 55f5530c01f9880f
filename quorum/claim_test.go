package quorum

import (
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// Claims that nobody has asked for in three TTLs are forgotten as others come, and have ended without a release; those
// that live are known for as long as they do.
func TestDeadClaimsAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cs := newClaims()
		add := func(id string, ttl time.Duration) *claim {
			return cs.add(newClaim(driver.Claim{Name: "jobs", ID: id, TTL: ttl}, 3))
		}
		dead, alive := add("dead", time.Second), add("alive", time.Minute)
		time.Sleep(claimTTLs*time.Second + 1)
		for i := range firstSweep {
			add(strconv.Itoa(i), time.Minute)
		}
		for _, cl := range []*claim{dead, alive} {
			cl.mu.Lock()
			defer cl.mu.Unlock()
		}
		known := func(cl *claim) bool { return cs.known[cl.key()] == cl }
		if known(dead) || dead.state != over || dead.released || dead.alive.Err() == nil {
			t.Errorf("the dead: known %t, state %v, released %t", known(dead), dead.state, dead.released)
		}
		if !known(alive) || alive.state == over {
			t.Errorf("the living: known %t, state %v", known(alive), alive.state)
		}
	})
}
