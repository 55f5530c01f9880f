package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/holdfast-go/holdfast/bench/cases"
)

// A grid is a table: its first row is the head, its first column the titles.
type grid [][]string

// measureGrid has a row for each measure, with everybody's value and how ours compares.
func (r *Results) measureGrid() grid {
	head := append([]string{"", "unit"}, r.Cast.All()...)
	g := grid{append(head, "x "+r.Cast.Limit, "x best rival")}
	for _, m := range r.Measures {
		row := []string{m.Title, m.Unit}
		for _, name := range r.Cast.All() {
			row = append(row, number(r.Value(m.Key, name)))
		}
		g = append(g, append(row, ratio(r.Ratio(m.Key, r.Cast.Ours, r.Cast.Limit)), r.timesBestRival(m)))
	}
	return g
}

func (r *Results) timesBestRival(m cases.Measure) string {
	best, ok := r.BestRival(m)
	if !ok {
		return ""
	}
	return ratio(r.Ratio(m.Key, r.Cast.Ours, best))
}

// targetGrid has a row for each target, with what was reached.
func (r *Results) targetGrid(targets []Target) grid {
	g := grid{{"target", "wanted", "got", ""}}
	for _, t := range targets {
		v := t.Judge(r)
		m, _ := r.Measure(t.Key)
		g = append(g, []string{m.Title, t.Want, ratio(v.Got), v.word()})
	}
	return g
}

func (v Verdict) word() string {
	switch {
	case math.IsNaN(v.Got):
		return "not measured"
	case v.Met:
		return "met"
	}
	return "missed"
}

// number shows three digits that count, and nothing for what was not measured.
func number(v float64) string {
	switch {
	case math.IsNaN(v):
		return ""
	case v >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case v >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case v >= 1 || v == 0:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
	return strconv.FormatFloat(v, 'f', 3, 64)
}

// ratio shows hundredths, because targets are set in them.
func ratio(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return ""
	}
	if v < 0.1 {
		return strconv.FormatFloat(v, 'f', 3, 64)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

// text writes columns padded with spaces: titles to the left, values to the right.
func (g grid) text(w io.Writer) {
	widths := g.widths()
	for _, row := range g {
		line := fmt.Sprintf("%-*s", widths[0], row[0])
		for i, cell := range row[1:] {
			line += fmt.Sprintf("  %*s", widths[i+1], cell)
		}
		fmt.Fprintln(w, strings.TrimRight(line, " "))
	}
}

func (g grid) widths() []int {
	widths := make([]int, len(g[0]))
	for _, row := range g {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	return widths
}

// markdown writes a table as GitHub shows it.
func (g grid) markdown(w io.Writer) {
	align := append([]string{":--"}, slices.Repeat([]string{"--:"}, len(g[0])-1)...)
	for i, row := range g {
		fmt.Fprintf(w, "| %s |\n", strings.Join(row, " | "))
		if i == 0 {
			fmt.Fprintf(w, "|%s|\n", strings.Join(align, "|"))
		}
	}
}
