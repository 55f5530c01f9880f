package proof

import (
	"testing"

	"github.com/holdfast-go/holdfast/systemtest/nemesis"
)

// A token that is not greater than those of earlier runs is found, unless tokens began anew since, or the clock was set
// back.
func TestPast(t *testing.T) {
	struck := func(s Struck) func(*Record) {
		s.Target = OnStore
		return func(r *Record) { r.Struck = []Struck{s} }
	}
	nothing := func(*Record) {}
	anew, setBack := struck(Struck{Anew: true}), struck(Struck{Blow: Blow{What: nemesis.ClockBack}})
	for _, c := range []struct {
		what          string
		first, second func(*Record)
		found         bool
	}{
		{"nothing", nothing, nothing, true},
		{"anew, and a run since", anew, nothing, true},
		{"anew", nothing, anew, false},
		{"set back, and a run since", setBack, nothing, false},
		{"set back", nothing, setBack, false},
	} {
		var p past
		for _, strike := range []func(*Record){c.first, c.second} {
			r := quiet()
			strike(&r)
			p.add(r)
		}
		r := quiet()
		r.Before = p.before()
		if wrongs := r.tokens(); (len(wrongs) > 0) != c.found {
			t.Errorf("%s: found is %v", c.what, wrongs)
		}
		for i := range r.Visits {
			r.Visits[i].Token += 3 // as many as there were
		}
		if wrongs := r.tokens(); len(wrongs) > 0 {
			t.Errorf("%s: greater ones are wrong: %v", c.what, wrongs)
		}
	}
}
