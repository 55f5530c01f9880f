package report

import "github.com/holdfast-go/holdfast/lab/experiment"

// together draws in one chart what several variants have measured in the same way, or returns nil if none have.
func together(r experiment.Report) *experiment.Chart {
	var all *experiment.Chart
	for _, a := range r.Variants {
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
