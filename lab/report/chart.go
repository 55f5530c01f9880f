package report

import (
	"fmt"
	"html"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/holdfast-go/holdfast/lab/experiment"
)

// The size of a chart, in units that are pixels on a phone, and of the part that the axes enclose.
const (
	width, height            = 360.0, 230.0
	left, right, top, bottom = 46.0, 10.0, 26.0, 48.0
)

// drawing draws a chart as SVG, which takes its colours from the page around it, or from the style that it is given.
// Its axis reaches the greatest of values, of which others that it is compared with may have greater ones.
func drawing(c experiment.Chart, greatest float64, style string) string {
	// with room for what stands above bars
	d := &drawn{Chart: c, last: lastNumber(c.Points), most: nice(1.1 * greatest)}
	d.printf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %g %g" role="img" aria-label="%s">`, width,
		height+d.legendBelow(), esc(c.Title))
	if style != "" {
		d.printf("<style>%s</style>", style)
	}
	d.printf(`<text class="title" x="%g" y="14">%s</text>`, left, esc(c.Title))
	d.axes()
	for i := range c.Lines {
		if c.Bars {
			d.bars(i)
		} else {
			d.line(i)
		}
	}
	d.limit()
	d.legend()
	d.printf("</svg>")
	return d.String()
}

type drawn struct {
	experiment.Chart
	strings.Builder
	most float64 // at the upper end of the axis
	last float64 // at the right end, if points are numbers
}

func (d *drawn) printf(format string, args ...any) { fmt.Fprintf(&d.Builder, format, args...) }

func esc(s string) string { return html.EscapeString(s) }

// largest is what the axis must reach.
func largest(c experiment.Chart) (most float64) {
	for _, l := range c.Lines {
		for _, v := range l.Values {
			most = max(most, v)
		}
	}
	return most
}

// nice is the next number that people like to read at an axis.
func nice(v float64) float64 {
	if v <= 0 {
		return 1
	}
	unit := math.Pow(10, math.Floor(math.Log10(v)))
	for _, step := range []float64{1, 1.2, 1.6, 2, 3, 4, 6, 8} {
		if v <= step*unit {
			return step * unit
		}
	}
	return 10 * unit
}

// y is where a value is.
func (d *drawn) y(v float64) float64 { return height - bottom - v/d.most*(height-top-bottom) }

// slot is the width that each point has.
func (d *drawn) slot() float64 { return (width - left - right) / float64(max(1, len(d.Points))) }

// x is where a point is: at its number on a line, if all points are numbers, and else in the middle of its slot.
func (d *drawn) x(i int) float64 {
	if d.Bars || d.last == 0 {
		return left + (float64(i)+0.5)*d.slot()
	}
	at, _ := strconv.ParseFloat(d.Points[i], 64)
	const margin = 8
	return left + margin + at/d.last*(width-left-right-2*margin)
}

// lastNumber returns the greatest of points that are numbers, or zero if one is not.
func lastNumber(points []string) (last float64) {
	for _, p := range points {
		n, err := strconv.ParseFloat(p, 64)
		if err != nil {
			return 0
		}
		last = max(last, n)
	}
	return last
}

func (d *drawn) axes() {
	const lines = 4
	for i := range lines + 1 {
		v := d.most * float64(i) / lines
		d.printf(`<path class="grid" d="M%g %.1fH%g"/>`, left, d.y(v), width-right)
		d.printf(`<text class="tick end" x="%g" y="%.1f">%s</text>`, left-5, d.y(v)+3.5, short(v))
	}
	crowded := d.slot() < widest(d.Points)*5.6
	end := 0.0 // of the label before
	for i, p := range d.Points {
		half := float64(len(p)) * 2.8
		if !d.Bars && d.x(i)-half < end {
			continue
		}
		d.label(i, p, crowded && d.Bars)
		end = d.x(i) + half + 4
	}
	d.printf(`<text class="tick middle" x="%g" y="%g">%s</text>`, (left+width-right)/2, height-20, esc(d.X))
	d.printf(`<text class="tick" x="4" y="14">%s</text>`, esc(d.Y))
}

// label writes what stands below a point; slanted where it has no room.
func (d *drawn) label(i int, p string, slanted bool) {
	if slanted {
		d.printf(`<text class="tick end" transform="translate(%.1f %g) rotate(-28)">%s</text>`, d.x(i)+6,
			height-bottom+12, esc(p))
		return
	}
	d.printf(`<text class="tick middle" x="%.1f" y="%g">%s</text>`, d.x(i), height-bottom+13, esc(p))
}

func widest(points []string) (n float64) {
	for _, p := range points {
		n = max(n, float64(len(p)))
	}
	return n
}

func short(v float64) string {
	if v >= 10000 {
		return fmt.Sprintf("%gk", v/1000)
	}
	return fmt.Sprintf("%.4g", v)
}

// bars draws one series as bars, with their values above them.
func (d *drawn) bars(series int) {
	each := d.slot() * 0.7 / float64(len(d.Lines))
	for i, v := range d.Lines[series].Values {
		x := d.x(i) - d.slot()*0.35 + float64(series)*each
		d.printf(`<rect class="s%d" x="%.1f" y="%.1f" width="%.1f" height="%.1f"/>`, series, x, d.y(v), each,
			height-bottom-d.y(v))
		over := d.Limit > 0 && v > d.Limit
		if over {
			d.over(x, v, each)
		}
		if each > 15 {
			d.printf(`<text class="tick middle%s" x="%.1f" y="%.1f">%s</text>`, map[bool]string{true: " harm"}[over],
				x+each/2, d.y(v)-3, short(v))
		}
	}
}

// over draws the part of a bar that is too much, which is hatched for those who do not see red.
func (d *drawn) over(x, v, wide float64) {
	top, height := d.y(v), d.y(d.Limit)-d.y(v)
	d.printf(`<rect class="over" x="%.1f" y="%.1f" width="%.1f" height="%.1f"/>`, x, top, wide, height)
	for y := top + 6; y < top+height-2; y += 6 {
		d.printf(`<path class="hatch" d="M%.1f %.1fh%.1f"/>`, x, y, wide)
	}
}

// limit draws a line where too much begins.
func (d *drawn) limit() {
	if d.Limit > 0 {
		d.printf(`<path class="limit" d="M%g %.1fH%g"/>`, left, d.y(d.Limit), width-right)
	}
}

// line draws one series as a line with a dot for each point.
func (d *drawn) line(series int) {
	var path strings.Builder
	for i, v := range d.Lines[series].Values {
		command := "L"
		if i == 0 {
			command = "M"
		}
		fmt.Fprintf(&path, "%s%.1f %.1f", command, d.x(i), d.y(v))
	}
	d.printf(`<path class="l%d" d="%s"/>`, series, path.String())
	for i, v := range d.Lines[series].Values {
		d.dot(series, d.x(i), d.y(v))
	}
}

// dot draws a point of a series: round in the first, square in the second, and so on.
func (d *drawn) dot(series int, x, y float64) {
	switch series {
	case 0:
		d.printf(`<circle class="s0" cx="%.1f" cy="%.1f" r="3.2"/>`, x, y)
	case 1:
		d.printf(`<rect class="s1" x="%.1f" y="%.1f" width="6" height="6"/>`, x-3, y-3)
	default:
		d.printf(`<path class="s%d" d="M%.1f %.1fl4 7h-8z"/>`, series, x, y-4)
	}
}

// legendRow is how high a row of the legend is.
const legendRow = 14.0

// legendWidth is how wide the name of a series is, with its colour and a gap behind.
func legendWidth(name string) float64 { return 28 + 5.6*float64(len(name)) }

// legendFits reports whether the names of all series fit beside each other.
func (d *drawn) legendFits() bool {
	end := left
	for _, l := range d.Lines {
		end += legendWidth(l.Name)
	}
	return end <= width
}

// legendBelow is how much higher a chart is whose legend needs a row for each series.
func (d *drawn) legendBelow() float64 {
	if d.legendFits() {
		return 0
	}
	return legendRow * float64(len(d.Lines)-1)
}

// legend names the series, if there are several.
func (d *drawn) legend() {
	if len(d.Lines) < 2 {
		return
	}
	x, y := left, height
	for i, l := range d.Lines {
		d.dot(i, x+5, y-8)
		d.printf(`<text class="tick" x="%.1f" y="%g">%s</text>`, x+13, y-4, esc(l.Name))
		if d.legendFits() {
			x += legendWidth(l.Name)
		} else {
			y += legendRow
		}
	}
}

// Picture writes a chart as a file of its own, light or dark as whoever looks at it has it.
func Picture(name string, c experiment.Chart) error {
	css, err := files.ReadFile("style.css")
	if err != nil {
		return err
	}
	return os.WriteFile(name, []byte(drawing(c, largest(c), string(css)+"svg{background:var(--paper)}")+"\n"), 0o644)
}
