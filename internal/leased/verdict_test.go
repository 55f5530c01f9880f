package leased

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// drawQueue returns a queue, oldest first, and what the rule says of its last claim.
func drawQueue(r *rand.Rand) (seats []Seat, want driver.Status) {
	limits := [][]int64{{1}, {3}, {driver.All}, {1, 2, 5}, {2, 3, driver.All}}[r.IntN(5)]
	var entries []driver.Entry
	for i := range 1 + r.IntN(9) {
		limit := limits[r.IntN(len(limits))]
		s := Seat{
			Limit: limit, Weight: 1 + r.Int64N(min(limit, 3)),
			TTL: time.Duration(1 + r.IntN(1000)), Place: fmt.Sprint(i),
		}
		if s.Silent = r.IntN(4) == 0; r.IntN(4) == 0 {
			s.Weight = limit
		}
		seats = append(seats, s)
		entries = append(entries, driver.Entry{
			Claim: driver.Claim{ID: fmt.Sprint(i), Weight: s.Weight, Limit: s.Limit}, Left: s.TTL,
		})
	}
	want, _ = driver.StatusOf(entries, fmt.Sprint(len(seats)-1))
	return seats, want
}

// TestJudge compares what is judged with the rule.
func TestJudge(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	for range 20000 {
		queue, want := drawQueue(r)
		slices.Reverse(queue)
		me, ahead := queue[0], queue[1:]
		got := Judge(me, ahead)
		if complaint := compare(me, ahead, got, want); complaint != "" {
			t.Fatalf("seed %d: %s\nclaim %+v\nahead %+v\nverdict %+v\nwant %+v", seed, complaint, me, ahead, got, want)
		}
	}
}

func compare(me Seat, ahead []Seat, got Verdict, want driver.Status) string {
	watch := slices.IndexFunc(ahead, func(s Seat) bool { return s.Place == got.Watch })
	rulesOut := func(s Seat) bool { return s.Weight+me.Weight > min(s.Limit, me.Limit) }
	nearest := slices.IndexFunc(ahead, rulesOut)
	switch {
	case got.Granted != want.Granted:
		return "the rule says otherwise"
	case got.Granted && got.Bounds != sum(ahead).Add(me):
		return "the bounds are others"
	case got.Granted:
		return ""
	case got.Retry != want.Retry:
		return "the next in line asks again, and nobody else, when the first of those ahead expires"
	case nearest >= 0 && (got.Until != ItsEnd || watch != nearest):
		return "it does not wait for the end of the nearest claim that rules it out"
	case got.Until == AnyEnd && !allGranted(ahead) && !ahead[0].Silent:
		return "it watches the whole queue, though the claim just ahead tells when it is granted"
	case got.Until == AnyEnd && got.Watch == "":
		return ""
	case watch < 0 || got.Until == AnyEnd:
		return "it watches the whole queue and one claim"
	case got.Until == ItsEnd && sum(ahead[watch:watch+1]).Add(me).Fit():
		return "what it waits for does not rule it out"
	case got.Until == ItsTurn && (allGranted(ahead[watch:]) || ahead[watch].Silent):
		return "what it waits for is granted, or would never tell"
	case got.Sure && len(ahead) != 1:
		return "not sure: others are ahead"
	case !got.Sure && got.Until == ItsEnd && len(ahead) == 1 && me.Weight == me.Limit:
		return "it would be read again, though nobody else is ahead"
	case got.Sure && me.Weight != me.Limit:
		return "it would not note its bounds for those who wait until it is granted"
	case got.Second != "" && (len(ahead) < 2 || got.Second != ahead[1].Place || got.Watch != ahead[0].Place):
		return "it looks at the end of a claim that is not the second ahead"
	}
	return ""
}

// Of four that take turns, each but the first two looks when the second ahead of it ends. A claim that shares with
// others does not, nor one behind those that share: each end of theirs would have it look in vain. Behind a claim
// that says nothing no look makes it sure.
func TestJudgeSecond(t *testing.T) {
	mutex := func(place string) Seat { return Seat{Weight: 1, Limit: 1, Place: place} }
	reader := func(place string) Seat { return Seat{Weight: 1, Limit: driver.All, Place: place} }
	silent := mutex("silent")
	silent.Silent = true
	for _, c := range []struct {
		name  string
		me    Seat
		ahead []Seat // newest first
		want  string
	}{
		{"the next in line", mutex("me"), []Seat{mutex("a")}, ""},
		{"the second in line", mutex("me"), []Seat{mutex("b"), mutex("a")}, "a"},
		{"the third in line", mutex("me"), []Seat{mutex("c"), mutex("b"), mutex("a")}, "b"},
		{"a reader behind writers", reader("me"), []Seat{mutex("b"), mutex("a")}, ""},
		{"behind a reader", mutex("me"), []Seat{reader("b"), mutex("a")}, ""},
		{"behind one that waits for readers", mutex("me"), []Seat{mutex("b"), reader("a")}, ""},
		{"behind one that says nothing", mutex("me"), []Seat{silent, mutex("a")}, ""},
		{"behind one that waits for it", mutex("me"), []Seat{mutex("b"), silent}, "silent"},
	} {
		if got := Judge(c.me, c.ahead).Second; got != c.want {
			t.Errorf("%s looks at the end of %q, want %q", c.name, got, c.want)
		}
	}
}
