package report

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/lab/experiment"
)

// example has everything that pages show.
var example = experiment.Report{
	Name: "example", Question: "Is 1 < 2 & 3?", Needs: "Redis", Seconds: 1.5,
	Variants: []experiment.Record{
		{
			Title: "Classic", Failed: true, Outcome: "two held it", Length: 1000, Overlap: 250,
			Spans: []experiment.Span{{Who: "A", From: 0, To: 500}, {Who: "B", From: 250, To: 750}},
			Marks: []experiment.Mark{{Who: "B", At: 700, Kind: experiment.Rejected, Text: "late <write>"},
				{Who: "A", At: 690, Kind: experiment.Paused, Text: "asleep"}, {Who: "B", At: 710,
					Kind: experiment.Wrote, Text: "again"}},
			Numbers: []experiment.Number{{Name: "requests", Value: 12, Unit: "each"}},
		},
		{
			Title: "Holdfast", Ours: true, Outcome: "one after the other", Length: 1000,
			Charts: []experiment.Chart{
				{Title: "Herd", X: "waiters", Y: "events", Points: []string{"1", "500"},
					Lines: []experiment.Series{{Name: "one node", Values: []float64{1, 500}},
						{Name: "queue", Values: []float64{1, 1}}}},
				{Title: "Sold", Bars: true, Limit: 100, Points: []string{"none", "<all>"},
					Lines: []experiment.Series{{Name: "sold", Values: []float64{300, 40}}}},
			},
		},
	},
}

func TestTimeline(t *testing.T) {
	got := newTimeline(example.Variants[0])
	if len(got.Rows) != 2 || got.Rows[0].Who != "A" || got.Rows[1].Who != "B" {
		t.Fatalf("rows %+v, want A and B", got.Rows)
	}
	if want := (bar{25, 25, true}); got.Rows[0].Spans[1] != want {
		t.Errorf("A held together with B in %+v, want %+v", got.Rows[0].Spans[1], want)
	}
	if n := got.Notes[0]; n.Number != 1 || n.Text != "asleep" {
		t.Errorf("the first note is %+v, and the first mark in time was asleep", n)
	}
	if marks := got.Rows[1].Marks; marks[0].Lane == marks[1].Lane {
		t.Errorf("marks lie on each other: %+v", marks)
	}
	if newTimeline(experiment.Record{Length: 5}) != nil {
		t.Error("there is a picture of nothing")
	}
}

// Pages contain all that they show, and ask nobody for more.
func TestPagesAreSelfContained(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "pages")
	missing := experiment.Report{Name: "absent", Question: "Why?", Missing: "redis-server is not installed"}
	if err := Write(dir, []experiment.Report{example, missing}); err != nil {
		t.Fatal(err)
	}
	page, index, absent := read(t, dir, "example.html"), read(t, dir, "index.html"), read(t, dir, "absent.html")
	for _, want := range []string{"Is 1 &lt; 2 &amp; 3?", "late &lt;write&gt;", `class="overlap"`, `class="rejected"`,
		"12 each", "&lt;all&gt;", "<circle", "<rect", `class="over"`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if !strings.Contains(index, `href="example.html"`) || !strings.Contains(absent, missing.Missing) {
		t.Error("the index lacks a page, or the page that nothing was run")
	}
	for name, text := range map[string]string{"page": page, "index": index} {
		text = strings.ReplaceAll(text, "http://www.w3.org/2000/svg", "") // a name, which nobody fetches
		for _, foreign := range []string{"http:", "https:", "src=", "<script", "<link", "@import", "url("} {
			if strings.Contains(text, foreign) {
				t.Errorf("the %s has %s", name, foreign)
			}
		}
		if strings.Contains(text, "ZgotmplZ") {
			t.Errorf("the %s has something that was not let through", name)
		}
	}
}

func TestPictureStandsAlone(t *testing.T) {
	name := filepath.Join(t.TempDir(), "p.svg")
	if err := Picture(name, example.Variants[1].Charts[0]); err != nil {
		t.Fatal(err)
	}
	if svg := read(t, filepath.Dir(name), "p.svg"); !strings.HasPrefix(svg, "<svg ") ||
		!strings.Contains(svg, "prefers-color-scheme") {
		t.Errorf("it is no picture for light and dark:\n%s", svg)
	}
}

func TestAxesEndAtReadableNumbers(t *testing.T) {
	for v, want := range map[float64]float64{0: 1, 0.7: 0.8, 11: 12, 34: 40, 45: 60, 500: 600, 900: 1000} {
		if got := nice(v); got != want {
			t.Errorf("an axis for %g ends at %g, want %g", v, got, want)
		}
	}
}

// What two variants have measured alike is in one picture, for that is where one compares.
func TestVariantsTogether(t *testing.T) {
	variant := func(title string, events float64) experiment.Record {
		return experiment.Record{Title: title,
			Charts: []experiment.Chart{{Title: "Herd", Points: []string{"1"},
				Lines: []experiment.Series{{Name: "events", Values: []float64{events}}}}}}
	}
	got := together(experiment.Report{Variants: []experiment.Record{variant("one node", 500), variant("queue", 2)}})
	if got == nil || len(got.Lines) != 2 || got.Lines[1].Name != "queue" || got.Lines[1].Values[0] != 2 {
		t.Errorf("both variants in one chart: %+v", got)
	}
	if got := together(experiment.Report{Variants: []experiment.Record{variant("alone", 1)}}); got != nil {
		t.Errorf("one variant needs no second chart: %+v", got)
	}
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
