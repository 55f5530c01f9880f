package recording

import (
	"cmp"
	"slices"
)

// A Period is from one moment until another, in milliseconds from the beginning of the run.
type Period struct{ From, To float64 }

// Overlaps are the periods in which more than one believed to hold the lock, and at least one of them not to share it,
// in order.
func (r Run) Overlaps() (periods []Period) {
	var pairs []Period
	for i, a := range r.Events {
		for _, b := range r.Events[:i] {
			from, to := max(a.From, b.From), min(a.To, b.To)
			if a.Kind.IsHold() && b.Kind.IsHold() && from < to && !(a.Kind == Shares && b.Kind == Shares) {
				pairs = append(pairs, Period{from, to})
			}
		}
	}
	slices.SortFunc(pairs, func(a, b Period) int { return cmp.Compare(a.From, b.From) })
	for _, p := range pairs {
		if n := len(periods); n > 0 && p.From <= periods[n-1].To {
			periods[n-1].To = max(periods[n-1].To, p.To)
		} else {
			periods = append(periods, p)
		}
	}
	return periods
}

// Overlap is for how long that was, in milliseconds.
func (r Run) Overlap() (total float64) {
	for _, o := range r.Overlaps() {
		total += o.To - o.From
	}
	return total
}
