package report

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/lab/experiment"
	"github.com/holdfast-go/holdfast/lab/recording"
)

// example has everything that pages show.
var example = experiment.Report{
	Name: "example", Group: "Examples", Question: "Is 1 < 2 & 3?", Needs: "Redis", Code: "classic/setnx.go",
	Answer: "The shop lost 3 orders; with Holdfast none.", At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
	Seconds: 1.5,
	Variants: []experiment.Record{
		{
			Title: "Classic", Failed: true, Outcome: "two held it", Overlap: 250,
			Run: recording.Run{Length: 1000, Events: []recording.Event{
				{Who: "A", Kind: recording.Holds, From: 0, To: 500},
				{Who: "A", Kind: recording.Fault, Text: "asleep", From: 100, To: 300},
				{Who: "B", Kind: recording.Waits, From: 50, To: 250},
				{Who: "B", Kind: recording.Holds, From: 250, To: 750},
				{Who: "B", Kind: recording.Wrote, From: 260, Text: "early"},
				{Who: "A", Kind: recording.Corrupted, From: 400, Text: "late <write>"},
				{Who: "reader", Kind: recording.Shares, From: 800, To: 900},
			}},
			Numbers: []experiment.Number{{Name: "requests", Value: 12, Unit: "each"}, harm(300)},
		},
		{
			Title: "Holdfast", Ours: true, Outcome: "one after the other",
			Run: recording.Run{Length: 200, Events: []recording.Event{
				{Who: "A", Kind: recording.Holds, From: 10, To: 50},
				{Who: "B", Kind: recording.Holds, From: 60, To: 150},
				{Who: "A", Kind: recording.Refused, From: 140, Text: "too late"},
			}},
			Numbers: []experiment.Number{harm(40)},
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

var missing = experiment.Report{Name: "absent", Question: "Why?", Missing: "redis-server is not installed"}

// A report comes from a file, too, which anybody may have written: its name leads to no other folder, and to no page of
// another name.
func TestNamesThatArePaths(t *testing.T) {
	for _, name := range []string{"../outside", "/outside", "a/b", `a\b`, "..", "", "index"} {
		folder := filepath.Join(t.TempDir(), "pages")
		if err := Write(folder, []experiment.Report{{Name: name, Missing: "all"}}); err == nil {
			t.Errorf("%q is written", name)
		}
		if found, _ := filepath.Glob(filepath.Join(folder, "..", "*.html")); len(found) > 0 {
			t.Errorf("%q is outside: %q", name, found)
		}
	}
}

// harm is a measurement with the limit 100.
func harm(value float64) experiment.Number {
	limit := 100.0
	return experiment.Number{Name: "sold", Value: value, Limit: &limit}
}

func TestTimeline(t *testing.T) {
	run := example.Variants[0].Run
	got := draw(run, recording.Period{To: 1000}, notes(run))
	if len(got.Rows) != 3 || got.Rows[0].Who != "A" || got.Rows[1].Who != "B" {
		t.Fatalf("rows %+v, want A, B and the reader", got.Rows)
	}
	want := []bar{{"holds", 0, 50, "holds"}, {"fault", 10, 20, ""}, {"together", 25, 25, ""}}
	if !slices.Equal(got.Rows[0].Bars, want) {
		t.Errorf("A is drawn as %+v, want %+v", got.Rows[0].Bars, want)
	}
	if n := notes(run); len(n) != 3 || n[0].Number != 1 || n[0].Text != "asleep" ||
		n[2].Word.Text != "corrupting write" {
		t.Errorf("the notes are %+v", n)
	}
	part := draw(run, recording.Period{From: 200, To: 300}, notes(run))
	if want := (bar{"together", 50, 50, "two hold it"}); !slices.Contains(part.Rows[1].Bars, want) {
		t.Errorf("B is drawn in a part as %+v, want %+v", part.Rows[1].Bars, want)
	}
	if marks := part.Rows[1].Marks; len(marks) != 1 || math.Abs(marks[0].Left-60) > 1e-9 {
		t.Errorf("B's marks in a part are %+v", marks)
	}
}

func TestMarksDoNotLieOnEachOther(t *testing.T) {
	run := recording.Run{Events: []recording.Event{{Who: "A", Kind: recording.Noted, Text: "1", From: 10},
		{Who: "A", Kind: recording.Noted, Text: "2", From: 15}, {Who: "A", Kind: recording.Noted, Text: "3", From: 90}}}
	marks := draw(run, recording.Period{To: 100}, notes(run)).Rows[0].Marks
	if marks[0].Top == marks[1].Top || marks[0].Top != marks[2].Top {
		t.Errorf("marks are at %+v", marks)
	}
}

// Runs that are compared have one scale, and what is shown larger is said to be.
func TestScalesAreShared(t *testing.T) {
	p := newPage(example)
	for i, r := range p.Runs {
		if want := (recording.Period{To: 1000}); r.Whole.View != want {
			t.Errorf("run %d is shown from %v, want %v", i, r.Whole.View, want)
		}
		if !regexp.MustCompile(`^\d+ times larger: A: `).MatchString(r.Closer.Caption) || r.Whole.Lens == nil {
			t.Errorf("run %d is shown larger as %q", i, r.Closer.Caption)
		}
	}
	bars := func(values ...float64) []experiment.Chart {
		return []experiment.Chart{{Title: "Turns", Bars: true, Points: []string{"A"},
			Lines: []experiment.Series{{Values: values}}}}
	}
	p = newPage(experiment.Report{Variants: []experiment.Record{{Charts: bars(500)}, {Charts: bars(3)}}})
	for i, r := range p.Runs {
		if !strings.Contains(string(r.Drawings[0]), ">600</text>") {
			t.Errorf("the axis of chart %d does not end at 600, as that of the other does: %s", i, r.Drawings[0])
		}
	}
}

// A short run is shown larger beside a long one, also if nothing is decided in it.
func TestShortRunIsShownLarger(t *testing.T) {
	run := recording.Run{Length: 100, Events: []recording.Event{{Who: "A", Kind: recording.Holds, From: 1, To: 99}}}
	if p, caption, ok := closer(run, 1000); !ok || p.To != 100 || caption != "10 times larger: all of it" {
		t.Errorf("%v, %v, %q", ok, p, caption)
	}
	if _, caption, ok := closer(run, 300); ok {
		t.Errorf("a run that is not short is shown again: %q", caption)
	}
}

// What is too much is said in words, and drawn behind the limit.
func TestComparison(t *testing.T) {
	got := compare(example)
	want := []measured{
		{"Classic", "300", 100.0 / 3, 200.0 / 3, 100.0 / 3, "200 too many"},
		{"Holdfast", "40", 40.0 / 3, 0, 100.0 / 3, ""},
	}
	if len(got) != 1 || got[0].Title != "sold" || fmt.Sprintf("%.6v", got[0].Bars) != fmt.Sprintf("%.6v", want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// Pages contain all that they show, and ask nobody for more.
func TestPagesAreSelfContained(t *testing.T) {
	dir := written(t)
	page, index, absent := read(t, dir, "example.html"), read(t, dir, "index.html"), read(t, dir, "absent.html")
	for _, want := range []string{"Is 1 &lt; 2 &amp; 3?", "late &lt;write&gt;", `class="together"`, "mark corrupted",
		"mark refused", "12 each", "&lt;all&gt;", "<circle", "<rect", `class="over"`, "2 January 2026"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	for _, want := range []string{`href="example.html"`, "Examples</h2>", "2 January 2026",
		repository + "docs/lab.md#example", repository + "lab/classic/setnx.go"} {
		if !strings.Contains(index, want) {
			t.Errorf("the index lacks %s", want)
		}
	}
	if !strings.Contains(absent, missing.Missing) {
		t.Error("the page does not say that nothing was run")
	}
	// links, which no browser follows by itself
	link := regexp.MustCompile(`<a href="` + regexp.QuoteMeta(repository) + `[^"]*">`)
	for name, text := range map[string]string{"page": page, "index": index} {
		text = link.ReplaceAllString(strings.ReplaceAll(text, "http://www.w3.org/2000/svg", ""), "")
		for _, foreign := range []string{"http:", "https:", "src=", "<link", "@import", "url("} {
			if strings.Contains(text, foreign) {
				t.Errorf("the %s has %s", name, foreign)
			}
		}
		if strings.Contains(text, "ZgotmplZ") {
			t.Errorf("the %s has something that was not let through", name)
		}
	}
}

// On top is the verdict: the answer if all went as it should, and else what did not.
func TestVerdictIsOnTop(t *testing.T) {
	wrong := example
	wrong.Variants = []experiment.Record{{Title: "Holdfast", Ours: true, Failed: true, Outcome: "lost 2 orders"}}
	for _, row := range []struct {
		report experiment.Report
		want   string
	}{
		{example, `<p class="verdict good"><span class="classic">The shop lost 3 orders;</span> ` +
			`<span class="ours">with Holdfast none.</span></p>`},
		{wrong, `<p class="verdict bad"><span class="badge bad">not as it should be</span> ` +
			`Not as it should be: Holdfast failed: lost 2 orders`},
		{missing, `<p class="verdict missing"><span class="badge missing">not run</span> Not run: ` + missing.Missing},
	} {
		dir := t.TempDir()
		if err := Write(dir, []experiment.Report{row.report}); err != nil {
			t.Fatal(err)
		}
		page := read(t, dir, row.report.Name+".html")
		if at := strings.Index(page, row.want); at < 0 || at > strings.Index(page+"<section", "<section") {
			t.Errorf("the page does not begin with %s", row.want)
		}
	}
}

// Parts of pictures stand out from what is behind them, as WCAG AA asks for: with a contrast of 3. TestPagesInBrowser
// looks at texts.
func TestContrast(t *testing.T) {
	css, err := files.ReadFile("style.css")
	if err != nil {
		t.Fatal(err)
	}
	light, dark, _ := strings.Cut(string(css), "@media")
	for name, text := range map[string]string{"light": light, "dark": dark} {
		colours := make(map[string]float64)
		for _, found := range regexp.MustCompile(`--(\w+): #(\w+)`).FindAllStringSubmatch(text, -1) {
			colours[found[1]] = luminance(t, found[2])
		}
		for _, behind := range []string{"paper", "track"} {
			for _, c := range []string{"ink", "dim", "a", "b", "c", "danger", "refused", "good", "fault", "wait"} {
				if got := contrast(colours[c], colours[behind]); got < 3 {
					t.Errorf("%s: the contrast of %s and %s is %.1f", name, c, behind, got)
				}
			}
		}
	}
}

// contrast is as https://www.w3.org/TR/WCAG21/#dfn-contrast-ratio has it.
func contrast(a, b float64) float64 { return (max(a, b) + 0.05) / (min(a, b) + 0.05) }

// luminance is that of a colour with three or six digits.
func luminance(t *testing.T, hex string) float64 {
	t.Helper()
	if len(hex) == 3 {
		hex = string([]byte{hex[0], hex[0], hex[1], hex[1], hex[2], hex[2]})
	}
	rgb, err := strconv.ParseUint(hex, 16, 32)
	if err != nil {
		t.Fatal(err)
	}
	linear := func(c uint64) float64 {
		s := float64(c&0xff) / 255
		if s <= 0.04045 {
			return s / 12.92
		}
		return math.Pow((s+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(rgb>>16) + 0.7152*linear(rgb>>8) + 0.0722*linear(rgb)
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

// What two variants have measured alike is in one picture, for that is where one compares. Holdfast comes first.
func TestVariantsTogether(t *testing.T) {
	variant := func(title string, events float64, ours bool) experiment.Record {
		return experiment.Record{Title: title, Ours: ours,
			Charts: []experiment.Chart{{Title: "Herd", Points: []string{"1"},
				Lines: []experiment.Series{{Name: "events", Values: []float64{events}}}}}}
	}
	got := together(experiment.Report{Variants: []experiment.Record{variant("one node", 500, false),
		variant("queue", 2, true)}})
	if got == nil || len(got.Lines) != 2 || got.Lines[0].Name != "queue" || got.Lines[0].Values[0] != 2 {
		t.Errorf("both variants in one chart: %+v", got)
	}
	if got := together(experiment.Report{Variants: []experiment.Record{variant("alone", 1, false)}}); got != nil {
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
