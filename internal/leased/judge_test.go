package leased

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// drawMarked returns a queue, oldest first, and what the rule says of its last claim. Some of the granted claims note
// their bounds, as they were when more claims were ahead of them.
func drawMarked(r *rand.Rand) (all []Seat, want driver.Status) {
	limits := [][]int64{{1}, {3}, {driver.All}, {1, 2, 5}, {2, 3, driver.All}}[r.IntN(5)]
	all = make([]Seat, 1+r.IntN(9))
	entries := make([]driver.Entry, len(all))
	b := NoBounds()
	gone := int64(0) // weight of claims that were ahead when the bounds were noted
	for i := range all {
		limit := limits[r.IntN(len(limits))]
		s := Seat{Place: fmt.Sprint(i), Limit: limit, Weight: 1 + r.Int64N(min(limit, 3)), TTL: time.Second}
		if r.IntN(4) == 0 {
			s.Weight = limit
		}
		b = b.Add(s)
		if b.Sum+gone <= b.Limit && r.IntN(3) == 0 {
			s.Fits = &Bounds{Sum: b.Sum + gone, Limit: b.Limit}
		}
		if gone > 0 || r.IntN(4) == 0 {
			gone++
		}
		all[i] = s
		entries[i] = driver.Entry{
			Claim: driver.Claim{ID: s.Place, Weight: s.Weight, Limit: s.Limit}, Granted: b.Fit(), Left: s.TTL,
		}
	}
	want, _ = driver.StatusOf(entries, all[len(all)-1].Place)
	return all, want
}

// TestJudgeNewest compares what is judged with the rule, with all claims ahead and with the newest of them.
func TestJudgeNewest(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	for range 20000 {
		queue, want := drawMarked(r)
		slices.Reverse(queue)
		me, ahead := queue[0], queue[1:]
		for known := range len(ahead) + 1 {
			complete := known == len(ahead)
			got, ok := JudgeNewest(me, ahead[:known], complete)
			if !ok && complete {
				t.Fatalf("seed %d: all claims ahead of %+v do not suffice: %+v", seed, me, ahead)
			}
			if ok {
				if complaint := compareNewest(me, ahead, complete, got, want); complaint != "" {
					t.Fatalf("seed %d: %s\nclaim %+v\nahead %+v, of which %d are known\nverdict %+v\nwant %+v",
						seed, complaint, me, ahead, known, got, want)
				}
			}
		}
	}
}

func compareNewest(me Seat, ahead []Seat, complete bool, got Verdict, want driver.Status) string {
	at := slices.IndexFunc(ahead, func(s Seat) bool { return s.Place == got.Watch })
	switch {
	case got.Granted != want.Granted:
		return "the rule says otherwise"
	case got.Granted:
		return ""
	case complete && (got.Retry > 0) != (want.Retry > 0), got.Retry > 0 && want.Retry == 0:
		return "only the next in line asks again"
	case got.Until == AnyEnd:
		return ""
	case at < 0:
		return "what it waits for is not ahead of it"
	case got.Until == ItsEnd && Judge(me, ahead[at:at+1]).Granted:
		return "what it waits for does not rule it out"
	case got.Until == ItsTurn && allGranted(ahead[at:]):
		return "what it waits for is granted, and would never tell"
	case got.Sure && len(ahead) != 1:
		return "not sure: others are ahead"
	case got.Sure && !me.IsExclusive():
		return "it would not note its bounds for those who wait until it is granted"
	}
	return ""
}

// However many hold a lock together, the next is judged by a few claims, if one of these noted its bounds.
func TestJudgeByAMark(t *testing.T) {
	me := Seat{Weight: 1, Limit: driver.All}
	ahead := make([]Seat, LookAheadShared)
	for i := range ahead {
		ahead[i] = Seat{Weight: 1, Limit: driver.All, TTL: time.Minute}
	}
	if _, ok := JudgeNewest(me, ahead, false); ok {
		t.Error("judged without knowing who is ahead")
	}
	ahead[markEvery].Fits = &Bounds{Sum: 5000, Limit: driver.All}
	v, ok := JudgeNewest(me, ahead, false)
	if want := int64(5000 + markEvery + 1); !ok || !v.Granted || v.Bounds.Sum != want {
		t.Errorf("got %+v, %v; want a grant that sums up to %d", v, ok, want)
	}
}
