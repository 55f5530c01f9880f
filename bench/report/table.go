package report

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A grid is a table: its first row is the head, its first column the titles.
type grid [][]string

// measureGrid has a row for each measure, with everybody's value and how ours compares.
func (r *Report) measureGrid() grid {
	head := []string{r.Pin, "unit"}
	for _, c := range r.Contenders {
		head = append(head, c.Name)
	}
	g := grid{append(head, "x "+r.Contenders[0].Name, "x best rival")}
	for _, row := range r.Rows {
		cells := []string{row.Title, row.Unit}
		for _, c := range r.Contenders {
			cells = append(cells, row.number(c.Name))
		}
		g = append(g, append(cells, row.Limit.String(), row.Rival.String()))
	}
	return g
}

// targetGrid has a row for each target, with what was reached.
func (r *Report) targetGrid() grid {
	g := grid{{"target", "wanted", "got", ""}}
	for _, v := range r.Verdicts {
		got := ""
		if v.Got != nil {
			got = Hundredths(*v.Got)
		}
		g = append(g, []string{v.Title, v.Want, got, v.word()})
	}
	return g
}

// number shows three digits that count, and nothing for what was not measured.
func (row Row) number(contender string) string {
	v, measured := row.Median[contender]
	switch {
	case !measured:
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

// String shows the median, and the least and the most where there were several rounds that differed.
func (r *Ratio) String() string {
	if r == nil {
		return ""
	}
	median, low, high := Hundredths(r.Median), Hundredths(r.Low), Hundredths(r.High)
	if low == high {
		return median
	}
	return median + " [" + low + "-" + high + "]"
}

// Hundredths are what ratios are shown in, because targets are set in them.
func Hundredths(v float64) string {
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
