package report

import (
	"html/template"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/lab/experiment"
	"github.com/holdfast-go/holdfast/lab/recording"
)

// repository is where the documents and the code are that pages link to.
const repository = "https://github.com/holdfast-go/holdfast/blob/main/"

// A page is what the template of a report shows.
type page struct {
	experiment.Report
	Verdict     verdict
	Comparisons []comparison
	Together    template.HTML
	Runs        []run
}

// A run is a variant as it is shown.
type run struct {
	experiment.Record
	Whole  *timeline // nil if nothing is known but its end
	Closer *timeline // at the moment that decides; nil if there is none
	Notes  []note
	slider
	Drawings []template.HTML
}

// newPage draws a report. What is compared has one scale.
func newPage(r experiment.Report) page {
	p := page{Report: r, Verdict: verdictOf(r), Comparisons: compare(r)}
	if c := together(r); c != nil {
		p.Together = chart(*c, largest(*c))
	}
	length := longest(r.Variants)
	for _, v := range r.Variants {
		s := newRun(v, length, r.Variants)
		if p.Together != "" {
			s.Drawings = nil // which has all of them
		}
		p.Runs = append(p.Runs, s)
	}
	return p
}

// longest is how long the longest run lasted, in milliseconds.
func longest(variants []experiment.Record) (length float64) {
	for _, v := range variants {
		if len(v.Events) > 0 {
			length = max(length, v.Length)
		}
	}
	return length
}

// newRun draws a variant on a scale of so many milliseconds, and its charts as those of the others are.
func newRun(v experiment.Record, length float64, others []experiment.Record) run {
	s := run{Record: v}
	for _, c := range v.Charts {
		s.Drawings = append(s.Drawings, chart(c, alike(c, others)))
	}
	if len(v.Events) == 0 {
		return s
	}
	s.Notes = notes(v.Run)
	s.Whole = draw(v.Run, recording.Period{To: length}, s.Notes)
	s.slider = newSlider(v.Run)
	if around, caption, ok := closer(v.Run, length); ok {
		s.Closer = draw(v.Run, around, s.Notes)
		s.Closer.Caption = caption
		s.Whole.lens(around)
	}
	return s
}

// alike is what the axis of a chart must reach, so that it is that of all with its title.
func alike(c experiment.Chart, variants []experiment.Record) (most float64) {
	for _, v := range variants {
		for _, o := range v.Charts {
			if o.Title == c.Title {
				most = max(most, largest(o))
			}
		}
	}
	return most
}

// chart is drawing, which escapes what it is given.
func chart(c experiment.Chart, most float64) template.HTML {
	return template.HTML(drawing(c, most, ""))
}

// Docs is where the experiment is described.
func (p page) Docs() string { return repository + "docs/lab.md#" + p.Name }

// Source is where the code of the lock that fails is, if that is known.
func (p page) Source() string {
	if p.Code == "" {
		return ""
	}
	return repository + "lab/" + p.Code
}

// Date is the day on which the experiment was run, if it was.
func (p page) Date() string { return day(p.At) }

func day(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format("2 January 2006, 15:04 UTC")
}

// HasTimelines reports whether there is anything that a legend would explain.
func (p page) HasTimelines() bool { return longest(p.Report.Variants) > 0 }

// A verdict is a sentence about a report: of the classics that failed, and of Holdfast. If something went otherwise
// than it should, the first part is all of it, with a word and the class in which that is shown.
type verdict struct{ Classic, Ours, Word, Class string }

func verdictOf(r experiment.Report) verdict {
	switch {
	case r.Missing != "":
		return verdict{r.Verdict(), "", "not run", "missing"}
	case r.Complaint() != "":
		return verdict{r.Verdict(), "", "not as it should be", "bad"}
	}
	classic, ours, _ := strings.Cut(r.Verdict(), "; ")
	return verdict{classic + ";", ours, "", "good"}
}
