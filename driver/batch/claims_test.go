package batch

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/holdfast-go/holdfast/driver"
)

// The calls on each claim go in the order in which they came, whichever leave in between, and however many claims there
// are.
func TestClaims(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	cs, want, all := newClaims(), make(map[string][]*call), 0
	for step := range 20_000 {
		id := strconv.Itoa(r.IntN(1 + step%1000))
		calls := want[id]
		if cs.isFree(id) != (len(calls) == 0) {
			t.Fatalf("seed %d: %d calls on a claim, and free is %v", seed, len(calls), cs.isFree(id))
		}
		if len(calls) == 0 || r.IntN(3) == 0 {
			c := &call{op: driver.Op{Kind: driver.OpRelease, Claim: driver.Claim{ID: id}}}
			if waits := cs.add(c); waits != (len(calls) > 0) {
				t.Fatalf("seed %d: a call behind %d others waits: %v", seed, len(calls), waits)
			}
			want[id], all = append(calls, c), all+1
			continue
		}
		at := r.IntN(len(calls))
		next := cs.remove(calls[at])
		want[id], all = slices.Delete(calls, at, at+1), all-1
		var turn *call
		if at == 0 && len(want[id]) > 0 {
			turn = want[id][0]
		}
		if next != turn {
			t.Fatalf("seed %d: after call %d of %d it is the turn of %p", seed, at, len(calls), next)
		}
	}
	if most := len(cs.buckets); most <= fewClaims {
		t.Errorf("there are %d buckets for %d calls", most, all)
	}
	for id, calls := range want {
		for range calls {
			cs.remove(cs.first(id))
		}
	}
	if cs.n != 0 || slices.ContainsFunc(cs.buckets, func(c *call) bool { return c != nil }) {
		t.Errorf("%d claims are left", cs.n)
	}
}
