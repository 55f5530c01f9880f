// Package report makes one table of many measurements, and judges them by targets.
package report

import (
	"math"
	"slices"

	"github.com/holdfast-go/holdfast/bench/cases"
	"github.com/holdfast-go/holdfast/bench/stats"
)

// Cast says who plays which part in a comparison, by name.
type Cast struct {
	Limit  string   // what nobody can beat
	Ours   string   // who is judged
	Rivals []string // whom it is compared with
}

// All returns every name, in the order of the table.
func (c Cast) All() []string { return append([]string{c.Limit, c.Ours}, c.Rivals...) }

// Results are samples, collected one at a time.
type Results struct {
	Cast     Cast
	Measures []cases.Measure

	values map[string]map[string][]float64 // by measure and contender, in the order of rounds
}

// Add adds what was measured about one contender. Contenders must be added in rounds.
func (r *Results) Add(contender string, sample cases.Sample) {
	if r.values == nil {
		r.values = make(map[string]map[string][]float64)
	}
	for key, value := range sample {
		if math.IsNaN(value) {
			continue // it could not be measured here
		}
		if r.values[key] == nil {
			r.values[key] = make(map[string][]float64)
		}
		r.values[key][contender] = append(r.values[key][contender], value)
	}
}

// Value returns the median of a measure over all rounds, or NaN when it was not taken.
func (r *Results) Value(key, contender string) float64 {
	return stats.Median(r.values[key][contender])
}

// Ratio returns how many times b's value a's is: the median over rounds, in each of which both were measured.
func (r *Results) Ratio(key, a, b string) float64 { return stats.Median(r.ratios(key, a, b)) }

func (r *Results) ratios(key, a, b string) []float64 {
	return stats.PairedRatios(r.values[key][a], r.values[key][b])
}

// BestRival returns the rival whose value is best; ok is false when none was measured.
func (r *Results) BestRival(m cases.Measure) (name string, ok bool) {
	best := math.NaN()
	for _, rival := range r.Cast.Rivals {
		v := r.Value(m.Key, rival)
		if math.IsNaN(v) {
			continue
		}
		if !ok || m.More && v > best || !m.More && v < best {
			name, best, ok = rival, v, true
		}
	}
	return name, ok
}

// Measure finds a measure by its key.
func (r *Results) Measure(key string) (cases.Measure, bool) {
	i := slices.IndexFunc(r.Measures, func(m cases.Measure) bool { return m.Key == key })
	if i < 0 {
		return cases.Measure{}, false
	}
	return r.Measures[i], true
}
