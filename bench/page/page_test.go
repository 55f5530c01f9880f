package page

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/bench/cases"
	"github.com/holdfast-go/holdfast/bench/report"
)

// The page is what the command makes of the stored results: nobody changes a number by hand, or the prose elsewhere
// than in speed.md.tmpl.
func TestPageIsMadeOfTheResults(t *testing.T) {
	var want bytes.Buffer
	if err := Write(&want, "../results"); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../docs/speed.md")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want.Bytes()) {
		t.Error("docs/speed.md is not what its results and its template make: go run ./bench -page docs/speed.md")
	}
}

// ours compares as 2 and 0.25 times raw, and as 4 times the best rival.
func sample() map[string]*report.Report {
	pinned := &report.Report{Pin: "one core", Contenders: []report.Entrant{{Name: "raw"}, {Name: "ours"}}}
	return map[string]*report.Report{"redis-together": pinned, "redis": {
		Engine:     "redis",
		Facts:      []report.Fact{{Name: "server", Value: "Redis 9"}},
		Contenders: []report.Entrant{{Name: "raw"}, {Name: "ours"}, {Name: "rival"}},
		Rows: []report.Row{
			{Measure: cases.Measure{Title: "a time", Unit: "µs"}, Limit: &report.Ratio{Median: 0.5}},
			{Measure: cases.Measure{Title: "a rate", Unit: "cycles/s", More: true}, Limit: &report.Ratio{Median: 0.25},
				Rival: &report.Ratio{Median: 4}},
			{Measure: cases.Measure{Title: "a cost", Unit: "µs/cycle"}, Limit: &report.Ratio{Median: 100}},
		},
	}}
}

func TestGlanceHasTheBestAndTheWorst(t *testing.T) {
	const want = "| Redis 9 | 2.00: a time | 0.25: a rate | 4.00: a rate | 4.00: a rate |"
	if got := glance(sample()); !strings.HasSuffix(got, "\n"+want) {
		t.Errorf("glance:\n%s\nwant:\n%s", got, want)
	}
}

func TestRenderPutsARunInItsPlace(t *testing.T) {
	var got bytes.Buffer
	if err := render(&got, "before\n\n{{run \"redis\"}}\n\nafter", sample()); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"before\n\n- server: Redis 9\n", "| a cost | µs/cycle |",
		"\n\n| one core | unit | raw | ours |", "\n\nafter"} {
		if !strings.Contains(got.String(), part) {
			t.Errorf("no %q in:\n%s", part, &got)
		}
	}
	if err := render(&got, `{{run "etcd"}}`, sample()); err == nil {
		t.Error("a page was made without one of its runs")
	}
}
