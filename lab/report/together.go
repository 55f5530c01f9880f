package report

import (
	"slices"

	"github.com/holdfast-go/holdfast/lab/experiment"
)

// together draws in one chart what several variants have measured in the same way, or returns nil if none have.
// Holdfast comes first, so that it has the same colour in all.
func together(r experiment.Report) *experiment.Chart {
	var all *experiment.Chart
	for _, a := range oursFirst(r.Variants) {
		for _, c := range a.Charts {
			if c.Bars || len(c.Lines) != 1 {
				continue
			}
			if all == nil {
				all = &experiment.Chart{Title: c.Title, X: c.X, Y: c.Y, Points: c.Points}
			}
			if c.Title == all.Title {
				all.Lines = append(all.Lines, experiment.Series{Name: a.Title, Values: c.Lines[0].Values})
			}
		}
	}
	if all == nil || len(all.Lines) < 2 {
		return nil
	}
	return all
}

func oursFirst(variants []experiment.Record) []experiment.Record {
	sorted := slices.Clone(variants)
	slices.SortStableFunc(sorted, func(a, b experiment.Record) int {
		switch {
		case a.Ours == b.Ours:
			return 0
		case a.Ours:
			return -1
		}
		return 1
	})
	return sorted
}
