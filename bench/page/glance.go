package page

import (
	"fmt"
	"strings"

	"github.com/holdfast-go/holdfast/bench/report"
)

// glance is the table that is taken in at a glance: for each engine where Holdfast does best and worst.
func glance(reports map[string]*report.Report) string {
	var table strings.Builder
	table.WriteString("| | best beside raw | worst beside raw | best beside a rival | worst beside a rival |\n" +
		"|:--|:--|:--|:--|:--|\n")
	for _, engine := range engines {
		r, ok := reports[engine]
		if !ok {
			continue
		}
		raw := extremes(r, func(row report.Row) *report.Ratio { return row.Limit })
		rival := extremes(r, func(row report.Row) *report.Ratio { return row.Rival })
		fmt.Fprintf(&table, "| %s | %s | %s | %s | %s |\n",
			r.Fact("server"), raw.best, raw.worst, rival.best, rival.worst)
	}
	return strings.TrimSuffix(table.String(), "\n")
}

// bounds are the best and the worst that was measured, each with how many times as fast Holdfast is, and where.
type bounds struct{ best, worst pace }

type pace struct {
	times float64 // as fast as the other
	title string
}

func (p pace) String() string {
	if p.title == "" {
		return ""
	}
	if p.times >= 10 {
		return fmt.Sprintf("%.0f: %s", p.times, p.title)
	}
	return fmt.Sprintf("%s: %s", report.Hundredths(p.times), p.title)
}

// extremes finds the best and the worst among the rows that say how fast the clients were.
func extremes(r *report.Report, ratio func(report.Row) *report.Ratio) (b bounds) {
	for _, row := range r.Rows {
		beside := ratio(row)
		if !row.Speed() || beside == nil || beside.Median == 0 {
			continue
		}
		p := pace{beside.Median, row.Title}
		if !row.More {
			p.times = 1 / p.times
		}
		if b.best.title == "" || p.times > b.best.times {
			b.best = p
		}
		if b.worst.title == "" || p.times < b.worst.times {
			b.worst = p
		}
	}
	return b
}
