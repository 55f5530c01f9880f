package drivertest

import (
	"fmt"
	"math/rand/v2"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/pace"
)

// ruleQueues is how many random queues the rule is compared on, of up to ruleClaims claims each.
const (
	ruleQueues = 12
	ruleClaims = 10
)

// runRule compares what a driver grants with the rule of package driver, which a driver on a server has to restate.
func runRule(t *pace.T, h Harness) {
	e := newEnv(t, h, setting{})
	if !weighted(e.d) || !fifo(e.d) {
		t.Skip("without weights and order there is nothing to compare")
	}
	t.Cleanup(func() { tellSeed(t) })
	for i := range ruleQueues {
		e.with(fmt.Sprintf("%s/%d", e.name, i)).followsRule(random(t, i))
	}
}

// followsRule fills a queue at random, empties it at random, and compares each status with the rule.
func (e *env) followsRule(r *rand.Rand) {
	e.Helper()
	var queue []driver.Entry
	for range 2 + r.IntN(ruleClaims-1) {
		c := e.units(drawUnits(r))
		st := e.request(e.d, c)
		c.Token = st.Token
		queue = append(queue, driver.Entry{Claim: c, Left: c.TTL})
		e.follows(queue, len(queue)-1, st)
		e.showsRule(queue)
	}
	for len(queue) > 0 {
		i := r.IntN(len(queue))
		e.release(e.d, queue[i].Claim, driver.Status{Token: queue[i].Token})
		queue = append(queue[:i:i], queue[i+1:]...)
		for i, en := range queue {
			e.follows(queue, i, e.request(e.renewer(), en.Claim))
		}
		e.showsRule(queue)
	}
}

// follows fails unless st is what the rule says about the ith claim.
func (e *env) follows(queue []driver.Entry, i int, st driver.Status) {
	e.Helper()
	want, _ := driver.StatusOf(queue, queue[i].ID)
	if st.Granted != want.Granted || st.Contended != want.Contended || (st.Retry > 0) != (want.Retry > 0) {
		e.Fatalf("claim %d of %s: got %+v, the rule says %+v", i, units(queue), st, want)
	}
	if granted := driver.Granted(claims(queue), queue[i].ID); granted != st.Granted {
		e.Fatalf("claim %d of %s: granted: %v, driver.Granted says %v", i, units(queue), st.Granted, granted)
	}
}

// showsRule fails unless the queue shows as granted what the rule grants.
func (e *env) showsRule(want []driver.Entry) {
	e.Helper()
	if !e.traits.Listed {
		return
	}
	e.queued(claims(want)...)
	for i, got := range e.queue() {
		if granted := driver.Granted(claims(want), got.ID); granted != got.Granted {
			e.Fatalf("claim %d of %s: the queue shows granted: %v, driver.Granted says %v",
				i, units(want), got.Granted, granted)
		}
	}
}

// drawUnits draws a weight and a limit: often small, and sometimes those of readers and writers.
func drawUnits(r *rand.Rand) (weight, limit int64) {
	switch r.IntN(8) {
	case 0:
		return driver.All, driver.All
	case 1, 2:
		return 1, driver.All
	case 3:
		return driver.All - 1, driver.All
	default:
		limit = 1 + r.Int64N(5)
		return 1 + r.Int64N(limit), limit
	}
}

// units shows a queue as weight/limit of each claim.
func units(queue []driver.Entry) string {
	list := make([]string, len(queue))
	for i, en := range queue {
		list[i] = fmt.Sprintf("%d/%d", en.Weight, en.Limit)
	}
	return fmt.Sprint(list)
}
