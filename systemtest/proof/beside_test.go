package proof

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/systemtest/history"
	"github.com/holdfast-go/holdfast/systemtest/nemesis"
)

// beside is a visit of a program of others that visitor 3 has started.
func beside(call, from, to time.Duration) Visit {
	v := visit(3, 0, call, from, to)
	v.Foreign = true
	return v
}

// A program of others is judged as far as it excludes others, unless something happened that may have cost it its lock.
// Ours are judged beside it, unless it may be the reason of what they were told.
func TestBesideForeign(t *testing.T) {
	with := func(more ...Visit) func(*Record) {
		return func(r *Record) { r.Visits = append(r.Visits, more...) }
	}
	unreleased := func(v Visit) Visit {
		v.Ended = history.Unclear
		return v
	}
	unanswered := func(v Visit) Visit {
		v.Outcome = history.Unknown
		return v
	}
	refused := visit(4, 0, 7*sec+500*ms, 7*sec+510*ms, 0)
	refused.Try, refused.Outcome = true, history.Taken
	later := func(more ...Visit) func(*Record) { // of the third, whose wait began before
		return func(r *Record) {
			move(&r.Visits[2], 9*sec)
			r.Visits = append(r.Visits, more...)
		}
	}
	struck := func(at Span, target Target, number int, harm nemesis.Harm) func(*Record) {
		return func(r *Record) {
			r.Struck = []Struck{{Blow: Blow{Target: target, Number: number}, Harm: harm, Fell: at.From, Span: at}}
		}
	}
	none := func(*Record) {}
	stoodStill := func(at Span) func(*Record) { return func(r *Record) { r.Stalls = []Stall{{nobody, at}} } }
	before, long := Span{7 * sec, 7*sec + 500*ms}, Span{1 * sec, 2 * sec}
	together := with(beside(8*sec, 8*sec, 9*sec), beside(8*sec, 8*sec+1, 9*sec))
	besideOurs := with(unreleased(beside(4*sec, 4*sec+100*ms, 4*sec+200*ms)))
	inside := with(beside(8*sec, 8*sec, 9*sec), visit(4, 4, 8*sec+100*ms, 8*sec+500*ms, 8*sec+600*ms))
	for name, c := range map[string]struct {
		plant, excuse func(*Record)
		judge         string // that finds it; empty if none may
	}{
		"after ours":                         {with(beside(6*sec, 7*sec+10*ms, 8*sec)), none, ""},
		"two of others":                      {together, none, "exclusion"},
		"inside with ours":                   {inside, none, "exclusion"},
		"inside with ours, unreleased":       {besideOurs, none, "exclusion"},
		"inside, its line was cut":           {inside, struck(before, OnLine, 3, 0), ""},
		"inside, long after that":            {inside, struck(long, OnLine, 3, 0), "exclusion"},
		"inside, another line was cut":       {inside, struck(before, OnLine, 4, 0), "exclusion"},
		"inside, the store was down":         {inside, struck(before, OnStore, 0, nemesis.Outage), ""},
		"inside, nothing was to befall it":   {inside, struck(before, OnStore, 0, nemesis.Nothing), "exclusion"},
		"inside, a claim was broken":         {inside, brokenFrom(8*sec+50*ms, 7), ""},
		"inside, the machine stood still":    {inside, stoodStill(before), "exclusion"},
		"inside, it stood still just before": {inside, stoodStill(Span{7 * sec, 8 * sec}), ""},
		"refused":                            {with(refused), none, "answers"},
		"refused while it was inside":        {with(refused, beside(7*sec+100*ms, 7*sec+110*ms, 8*sec)), none, ""},
		"refused while it may have been":     {with(refused, unanswered(beside(6*sec, 7*sec+20*ms, 0))), none, ""},
		"idle":                               {later(), none, "handed on"},
		"idle but for it":                    {later(beside(6*sec, 6*sec+100*ms, 8*sec+900*ms)), none, ""},
		"idle, it may have left something":   {later(unanswered(beside(5*sec, 6*sec+100*ms, 0))), none, ""},
		"idle after it":                      {later(beside(6*sec, 6*sec+100*ms, 6*sec+200*ms)), none, "handed on"},
		"it waited for long":                 {with(beside(3*sec, 12*sec, 13*sec)), none, ""},
		"it was before who came first":       {with(beside(3*sec, 5*sec+11*ms, 5*sec+12*ms)), none, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := quiet()
			c.plant(&r)
			c.excuse(&r)
			found := r.Judge()
			is := func(w Wrong) bool { return w.Judge == c.judge }
			if c.judge == "" && len(found) > 0 || c.judge != "" && !slices.ContainsFunc(found, is) {
				t.Errorf("found is %v, want %q", found, c.judge)
			}
		})
	}
}

// Where no order is promised none is asked for.
func TestUnruly(t *testing.T) {
	r := quiet()
	r.Visits[1].Call, r.Visits[2].Call = 2*sec, 1*sec
	r.Unruly = true
	if wrongs := r.order(); len(wrongs) > 0 {
		t.Errorf("found is %v", wrongs)
	}
}

// apart is a schedule in which ours and a program of others are inside for most of the time.
const apart = heading + `
store redis redsync
ttl 2s
lasts 3s
visitor 0
  lock m0 units 1 within 1s stays 500ms
visitor 1
  foreign m0 units 1 within 1s stays 500ms
`

// With clients of ours that keep their locks under other keys than the program of others does, the judges find both
// inside together: so they would find a layout that does not exclude.
func TestOtherKeys(t *testing.T) {
	t.Parallel()
	s, err := Parse(strings.NewReader(apart))
	if err != nil {
		t.Fatal(err)
	}
	k, _ := nemesis.Named(s.Store)
	store := k.Start(t)
	store.URL = func(addrs []string) string { return "redis://" + addrs[0] + "?prefix=ours:" }
	wrongs := Run(t, store, s).Judge()
	if !slices.ContainsFunc(wrongs, func(w Wrong) bool { return w.Judge == "exclusion" }) {
		t.Errorf("found is only %v", wrongs)
	}
}
