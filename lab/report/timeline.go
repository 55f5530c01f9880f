package report

import (
	"fmt"
	"slices"

	"github.com/holdfast-go/holdfast/lab/experiment"
)

// A timeline is who believed to hold the lock when. Places are in percent of its width, so that it fits any screen.
type timeline struct {
	Rows   []row
	Notes  []note
	Length string
}

// A row is one client's.
type row struct {
	Who   string
	Spans []bar
	Marks []mark
	Lanes int // of marks, of which one begins where the one before has no room
}

// Height is the row's, in the page's unit of length.
func (r row) Height() float64 { return trackHeight + laneHeight*float64(r.Lanes) }

const trackHeight, laneHeight = 1.1, 1.25

type bar struct {
	Left, Width float64
	Overlap     bool // others held it too
}

type mark struct {
	Number, Lane int
	Left         float64
	Kind         experiment.Kind
}

// Top is where the mark is, below the spans.
func (m mark) Top() float64 { return trackHeight + 0.1 + laneHeight*float64(m.Lane) }

// A note explains a mark.
type note struct {
	Number   int
	Kind     experiment.Kind
	At, Text string
	Who      string
}

// newTimeline draws a variant, or returns nil if nobody held a lock in it.
func newTimeline(r experiment.Record) *timeline {
	if len(r.Spans) == 0 && len(r.Marks) == 0 {
		return nil
	}
	length := max(r.Length, 1e-3)
	percent := func(at float64) float64 { return 100 * at / length }
	overlaps := experiment.Overlaps(r.Spans)
	t := &timeline{Length: moment(length)}
	for _, who := range people(r) {
		t.Rows = append(t.Rows, row{Who: who, Spans: bars(r.Spans, overlaps, who, percent)})
	}
	for i, m := range inTime(r.Marks) {
		t.Notes = append(t.Notes, note{i + 1, m.Kind, moment(m.At), m.Text, m.Who})
		for j := range t.Rows {
			if t.Rows[j].Who == m.Who {
				t.Rows[j].add(mark{Number: i + 1, Left: percent(m.At), Kind: m.Kind})
			}
		}
	}
	return t
}

// people are those in a variant, in the order in which they appear.
func people(r experiment.Record) (names []string) {
	first := make(map[string]float64)
	appear := func(who string, at float64) {
		if was, known := first[who]; !known {
			names = append(names, who)
			first[who] = at
		} else {
			first[who] = min(was, at)
		}
	}
	for _, s := range r.Spans {
		appear(s.Who, s.From)
	}
	for _, m := range r.Marks {
		appear(m.Who, m.At)
	}
	slices.SortStableFunc(names, func(a, b string) int {
		if first[a] < first[b] {
			return -1
		}
		return 1
	})
	return names
}

// bars are one client's spans, and over them the parts in which others held the lock too.
func bars(spans, overlaps []experiment.Span, who string, percent func(float64) float64) (list []bar) {
	for _, s := range spans {
		if s.Who == who {
			list = append(list, bar{percent(s.From), percent(s.To) - percent(s.From), false})
		}
	}
	for _, s := range spans {
		for _, o := range overlaps {
			if from, to := max(s.From, o.From), min(s.To, o.To); s.Who == who && from < to {
				list = append(list, bar{percent(from), percent(to) - percent(from), true})
			}
		}
	}
	return list
}

// room is how much of the width a mark needs, on a phone.
const room = 9

// add puts a mark into the first lane that has room for it.
func (r *row) add(m mark) {
	for slices.ContainsFunc(r.Marks, func(o mark) bool { return o.Lane == m.Lane && m.Left-o.Left < room }) {
		m.Lane++
	}
	r.Marks = append(r.Marks, m)
	r.Lanes = max(r.Lanes, m.Lane+1)
}

func inTime(marks []experiment.Mark) []experiment.Mark {
	marks = slices.Clone(marks)
	slices.SortStableFunc(marks, func(a, b experiment.Mark) int {
		switch {
		case a.At < b.At:
			return -1
		case a.At > b.At:
			return 1
		}
		return 0
	})
	return marks
}

func moment(ms float64) string {
	if ms < 1000 {
		return fmt.Sprintf("%.0f ms", ms)
	}
	return fmt.Sprintf("%.2f s", ms/1000)
}
