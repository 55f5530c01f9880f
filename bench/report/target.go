package report

import (
	"fmt"
	"math"

	"github.com/holdfast-go/holdfast/bench/cases"
)

// A Target is what Holdfast wants to reach.
type Target struct {
	Key   string  `json:"key"`  // the measure
	Want  string  `json:"want"` // for people, with its bound
	Bound float64 `json:"-"`    // the number that is compared
	More  bool    `json:"-"`    // the number must be above the bound, or at it; otherwise below, or at it

	// Count is for requests: they come whole, so a request on the edge of what was counted is rounded away.
	Count bool                   `json:"-"`
	Of    func(*Results) float64 `json:"-"`
}

// A Verdict is a target and what was reached. Got is nil when that was not measured, or is a ratio to nothing.
type Verdict struct {
	Target
	Title string   `json:"title"` // of the measure
	Got   *float64 `json:"got"`
	Met   bool     `json:"met"`
}

// Judge compares the results with a target.
func (t Target) Judge(r *Results) Verdict {
	got := t.Of(r)
	if t.Count {
		got = math.Round(got*100) / 100
	}
	m, _ := r.Measure(t.Key)
	return Verdict{Target: t, Title: m.Title, Got: known(got),
		Met: t.More && got >= t.Bound || !t.More && got <= t.Bound}
}

func (v Verdict) word() string {
	switch {
	case v.Got == nil:
		return "not measured"
	case v.Met:
		return "met"
	}
	return "missed"
}

// known returns a number that can be written down, or nil.
func known(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// Value is a target for Holdfast's own value: at most the bound.
func Value(key string, bound float64, unit string) Target {
	return Target{
		Key: key, Bound: bound, Want: fmt.Sprintf("at most %v %s", bound, unit), Count: true,
		Of: func(r *Results) float64 { return r.Value(key, r.Cast.Ours) },
	}
}

// AtMostTimes is a target for the ratio of Holdfast's value and another's.
func AtMostTimes(key string, bound float64, other string) Target {
	return Target{
		Key: key, Bound: bound, Want: fmt.Sprintf("at most %v x %s", bound, other),
		Of: func(r *Results) float64 { return r.Ratio(key, r.Cast.Ours, other) },
	}
}

// AtLeastTimes is a target for the ratio of Holdfast's value and another's, where more is better.
func AtLeastTimes(key string, bound float64, other string) Target {
	t := AtMostTimes(key, bound, other)
	t.Want, t.More = fmt.Sprintf("at least %v x %s", bound, other), true
	return t
}

// AtMostTimesBestRival is a target for the ratio of Holdfast's value and the best that a rival reached.
func AtMostTimesBestRival(m cases.Measure, bound float64) Target {
	return Target{
		Key: m.Key, Bound: bound, Want: fmt.Sprintf("at most %v x best rival", bound),
		Of: func(r *Results) float64 {
			best, ok := r.BestRival(m)
			if !ok {
				return math.NaN()
			}
			return r.Ratio(m.Key, r.Cast.Ours, best)
		},
	}
}

// NoMoreThan is a target for the ratio of two measures of Holdfast.
func NoMoreThan(key, other, title string) Target {
	return Target{
		Key: key, Bound: 1, Want: "no more than " + title,
		Of: func(r *Results) float64 { return r.Value(key, r.Cast.Ours) / r.Value(other, r.Cast.Ours) },
	}
}
