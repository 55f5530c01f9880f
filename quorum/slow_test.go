package quorum_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// A renewal waits for slow nodes for as long as its caller does: that a majority is slow with thousands of claims
// costs nobody a lock.
func TestRenewalWaitsForSlowNodes(t *testing.T) {
	inTime(t, 3, func(t *testing.T, ps parts) {
		d := ps.client(t)
		held := acquire(t, d, claim("jobs"))
		synctest.Wait()
		slow := ps[1:]
		slow.each((*part).hang)
		time.AfterFunc(3*time.Second, func() { slow.each((*part).goOn) })
		ctx, cancel := context.WithTimeout(context.Background(), 4*time.Second)
		defer cancel()
		results, err := driver.Renew(ctx, d, []driver.Claim{held})
		if err != nil || results[0].Err != nil || !results[0].Status.Granted {
			t.Errorf("renewed: %+v, %v; the nodes answer in time", results, err)
		}
	})
}

// A node that does not answer is not asked for thousands of claims at once that it lacks, and has all of them soon
// after it is back.
func TestTopUpsTakeTurns(t *testing.T) {
	inTime(t, 3, func(t *testing.T, ps parts) {
		ps[0].hang()
		d := ps.client(t)
		const claims = 300
		for i := range claims {
			acquire(t, d, claim(fmt.Sprint("job ", i)))
		}
		pass(ttl / 10)
		if n := ps[0].hung.Load(); n == 0 || n > 32 {
			t.Errorf("%d requests at once, for %d claims", n, claims)
		}
		ps[0].goOn()
		pass(ttl / 4)
		for i := range claims {
			ps.have(t, fmt.Sprint("job ", i), 3)
		}
	})
}
