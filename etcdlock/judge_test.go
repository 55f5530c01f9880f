package etcdlock

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/leased"
)

// drawSeats returns a queue, oldest first. Some of the granted claims note their bounds, as they were when more
// claims were ahead of them.
func drawSeats(r *rand.Rand) []seat {
	limits := [][]int64{{1}, {3}, {driver.All}, {1, 2, 5}, {2, 3, driver.All}}[r.IntN(5)]
	all := make([]seat, 1+r.IntN(9))
	b := leased.NoBounds()
	gone := int64(0) // weight of claims that were ahead when the bounds were noted
	for i := range all {
		limit := limits[r.IntN(len(limits))]
		s := seat{id: fmt.Sprint(i), key: fmt.Sprint("key ", i), token: uint64(i + 1)}
		s.Limit, s.Weight, s.TTL = limit, 1+r.Int64N(min(limit, 3)), 1000+r.Int64N(1000)
		if r.IntN(4) == 0 {
			s.Weight = limit
		}
		b = b.Add(s.seat())
		if b.Sum+gone <= b.Limit && r.IntN(3) == 0 {
			s.Fits = &leased.Bounds{Sum: b.Sum + gone, Limit: b.Limit}
		}
		if gone > 0 || r.IntN(4) == 0 {
			gone++
		}
		all[i] = s
	}
	return all
}

func entriesOf(all []seat) []driver.Entry { return entries("job", all, nil) }

// TestJudge compares what is judged with the rule, with all claims ahead and with the newest of them.
func TestJudge(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	for range 20000 {
		all := drawSeats(r)
		me := all[len(all)-1]
		ahead := slices.Clone(all[:len(all)-1])
		slices.Reverse(ahead)
		want, _ := driver.StatusOf(entriesOf(all), me.id)
		for known := range len(ahead) + 1 {
			complete := known == len(ahead)
			got, ok := judge(me, ahead[:known], complete)
			if !ok && complete {
				t.Fatalf("seed %d: all claims ahead of %+v do not suffice: %+v", seed, me, ahead)
			}
			if ok {
				if complaint := compare(me, ahead, complete, got, want); complaint != "" {
					t.Fatalf("seed %d: %s\nclaim %+v\nahead %+v, of which %d are known\nverdict %+v\nwant %+v",
						seed, complaint, me, ahead, known, got, want)
				}
			}
		}
	}
}

func compare(me seat, ahead []seat, complete bool, got leased.Verdict, want driver.Status) string {
	at := slices.IndexFunc(ahead, func(s seat) bool { return s.key == got.Watch })
	switch {
	case got.Granted != want.Granted:
		return "the rule says otherwise"
	case got.Granted:
		return ""
	case complete && (got.Retry > 0) != (want.Retry > 0), got.Retry > 0 && want.Retry == 0:
		return "only the next in line asks again"
	case got.Until == leased.AnyEnd:
		return ""
	case at < 0:
		return "what it waits for is not ahead of it"
	case got.Until == leased.ItsEnd && judgeAll(me, ahead[at:at+1]).Granted:
		return "what it waits for does not rule it out"
	case got.Until == leased.ItsTurn && leased.AllGranted(leasedSeats(ahead[at:])):
		return "what it waits for is granted, and would never tell"
	case got.Sure && len(ahead) != 1:
		return "not sure: others are ahead"
	case got.Sure && !me.exclusive():
		return "it would not note its bounds for those who wait until it is granted"
	}
	return ""
}

// However many hold a lock together, the next is judged by a few claims, if one of these noted its bounds.
func TestJudgeByTheNewest(t *testing.T) {
	me := seat{record: record{Weight: 1, Limit: driver.All}}
	ahead := make([]seat, lookAheadShared)
	for i := range ahead {
		ahead[i] = seat{record: record{Weight: 1, Limit: driver.All, TTL: time.Minute.Milliseconds()}}
	}
	if _, ok := judge(me, ahead, false); ok {
		t.Error("judged without knowing who is ahead")
	}
	ahead[markEvery].Fits = &leased.Bounds{Sum: 5000, Limit: driver.All}
	v, ok := judge(me, ahead, false)
	if want := int64(5000 + markEvery + 1); !ok || !v.Granted || v.Bounds.Sum != want {
		t.Errorf("got %+v, %v; want a grant that sums up to %d", v, ok, want)
	}
}
