package quorum_test

import (
	"cmp"
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/batch"
	"github.com/holdfast-go/holdfast/quorum"
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
		results, err := d.Renew(ctx, []driver.Claim{held})
		if err != nil || results[0].Err != nil || !results[0].Status.Granted {
			t.Errorf("renewed: %+v, %v; the nodes answer in time", results, err)
		}
	})
}

// A node that does not answer is asked to give back a claim until that must have expired there, and no longer.
func TestGivingBackEnds(t *testing.T) {
	inTime(t, 3, func(t *testing.T, ps parts) {
		d := ps.client(t)
		held := acquire(t, d, claim("jobs"))
		synctest.Wait()
		ps[0].hang()
		defer ps[0].goOn()
		release(t, d, held)
		asked := func() bool {
			for range 40 { // a pause is a second at most, and so is an attempt
				if ps[0].hung.Load() > 0 {
					return true
				}
				pass(50 * time.Millisecond)
			}
			return false
		}
		pass(ttl / 2)
		if !asked() {
			t.Error("the node is asked no more, and the claim may be there")
		}
		pass(ttl/2 + 4*time.Second)
		if asked() {
			t.Error("the node is still asked")
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
		pass(ttl * 13 / 100) // the proposals have been given up, and not yet what came behind them
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

// A node that refuses claims is not asked for each of them after each renewal, and has them some time after it does so
// no more.
func TestTopUpsThatAreRefused(t *testing.T) {
	inTime(t, 3, func(t *testing.T, ps parts) {
		ps[0].wrong.Store(true)
		d := ps.client(t)
		held := []driver.Claim{acquire(t, d, claim("job 0")), acquire(t, d, claim("job 1"))}
		renew := func() {
			results, err := d.Renew(t.Context(), held)
			for _, result := range results {
				err = cmp.Or(err, result.Err)
			}
			if err != nil {
				t.Fatal(err)
			}
			pass(ttl / 3)
		}
		for range 30 {
			renew()
		}
		before := ps[0].votes.Load()
		for range 120 {
			renew()
		}
		if n := ps[0].votes.Load() - before; n < 2 || n > 60 { // in 400 s
			t.Errorf("for two claims it is asked %d times in 40 TTLs", n)
		}
		ps[0].wrong.Store(false)
		for range 12 {
			renew()
		}
		ps.have(t, "job 0", 3)
		ps.have(t, "job 1", 3)
	})
}

// A holder learns that others wait also from a node that shows its line slowly: later than its renewal has ended, after
// which nobody waits for the answer.
func TestSlowLine(t *testing.T) {
	inTime(t, 3, func(t *testing.T, ps parts) {
		d := quorumOf(t, []driver.Driver{sleepy(ps[0]), sleepy(ps[1]), sleepy(ps[2])}, &quorum.Options{MaxTTL: ttl})
		held := acquire(t, d, claim("jobs"))
		if st, err := ps.client(t).Request(t.Context(), claim("jobs")); err != nil || st.Granted {
			t.Fatalf("another has the lock: %+v, %v", st, err)
		}
		for range 3 {
			ctx, cancel := context.WithCancel(t.Context())
			results, err := d.Renew(ctx, []driver.Claim{held})
			cancel()
			if err != nil || results[0].Err != nil {
				t.Fatalf("%v, %+v", err, results)
			}
			if results[0].Status.Contended {
				return
			}
			pass(ttl / 3)
		}
		t.Error("it never hears that another waits")
	})
}

// sleepy returns a node that is slow to show who waits.
func sleepy(p *part) driver.Driver {
	return batch.Intercept(p, func(ctx context.Context, op driver.Op, pass passOn) driver.Result {
		if op.Kind == driver.OpQueue {
			if err := driver.Sleep(ctx, ttl/20); err != nil {
				return driver.Result{Err: err}
			}
		}
		return pass(op)
	})
}
