package report

import (
	"bytes"
	"errors"
	"io/fs"
	"math"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/bench/cases"
	"github.com/holdfast-go/holdfast/bench/contender"
)

var (
	latency = cases.Measure{Key: "latency", Title: "latency", Unit: "µs"}
	speed   = cases.Measure{Key: "speed", Title: "speed", Unit: "cycles/s", More: true}
	absent  = cases.Measure{Key: "absent", Title: "absent", Unit: "s"}
)

// sampled has three rounds; the second was disturbed, for everybody.
func sampled() *Results {
	r := &Results{
		Cast:     Cast{Limit: "raw", Ours: "ours", Rivals: []string{"slow", "fast"}},
		Measures: []cases.Measure{latency, speed, absent},
	}
	for _, disturbance := range []float64{1, 5, 1} {
		for name, value := range map[string]float64{"raw": 10, "ours": 12, "slow": 40, "fast": 20} {
			r.Add(name, cases.Sample{"latency": value * disturbance, "speed": 1000 / value / disturbance})
		}
	}
	return r
}

func TestTargets(t *testing.T) {
	r := sampled()
	for _, row := range []struct {
		name   string
		target Target
		got    float64
		met    bool
	}{
		{"value within its bound", Value("latency", 12, "µs"), 12, true},
		{"value above its bound", Value("latency", 11, "µs"), 12, false},
		{"less is better, met", AtMostTimes("latency", 1.25, "raw"), 1.2, true},
		{"less is better, missed", AtMostTimes("latency", 1.1, "raw"), 1.2, false},
		{"more is better, met", AtLeastTimes("speed", 0.8, "raw"), 10. / 12, true},
		{"more is better, missed", AtLeastTimes("speed", 0.9, "raw"), 10. / 12, false},
		{"the best rival has the least", AtMostTimesBestRival(latency, 0.5), 0.6, false},
		{"the best rival has the most", AtMostTimesBestRival(speed, 2), 20. / 12, true},
		{"two measures of ours", NoMoreThan("latency", "latency", "itself"), 1, true},
		{"not measured is not met", AtMostTimesBestRival(absent, 9), math.NaN(), false},
	} {
		t.Run(row.name, func(t *testing.T) {
			v := row.target.Judge(r)
			got := math.NaN()
			if v.Got != nil {
				got = *v.Got
			}
			same := math.Abs(got-row.got) < 1e-9 || math.IsNaN(got) && math.IsNaN(row.got)
			if !same || v.Met != row.met {
				t.Errorf("%s: got %v, met %v; want %v, %v", row.target.Want, got, v.Met, row.got, row.met)
			}
		})
	}
}

// reported is the report of what sampled has, and of a round in which ours was slower.
func reported() *Report {
	r := sampled()
	r.Add("raw", cases.Sample{"latency": 10})
	r.Add("ours", cases.Sample{"latency": 15})
	return New("engine", []Fact{{"date", "today"}},
		[]contender.Contender{{Name: "raw"}, {Name: "ours"}, {Name: "slow"}, {Name: "fast"}},
		r, []Target{AtMostTimes("latency", 1.25, "raw"), AtMostTimesBestRival(absent, 1)})
}

func TestMarkdown(t *testing.T) {
	var b bytes.Buffer
	reported().Markdown(&b)
	for _, line := range []string{
		"- date: today",
		"|  | unit | raw | ours | slow | fast | x raw | x best rival |",
		"| latency | µs | 10.0 | 13.5 | 40.0 | 20.0 | 1.20 [1.20-1.50] | 0.60 |",
		"| absent | s |  |  |  |  |  |  |",
		"| latency | at most 1.25 x raw | 1.20 | met |",
		"| absent | at most 1 x best rival |  | not measured |",
	} {
		if !strings.Contains(b.String(), line+"\n") {
			t.Errorf("no line %q in:\n%s", line, &b)
		}
	}
}

func TestSavedReportIsReadBack(t *testing.T) {
	folder := t.TempDir()
	r := reported()
	if err := r.Save(folder); err != nil {
		t.Fatal(err)
	}
	again, err := Load(folder, "engine")
	if err != nil {
		t.Fatal(err)
	}
	var want, got bytes.Buffer
	r.Markdown(&want)
	again.Markdown(&got)
	if got.String() != want.String() {
		t.Errorf("read back:\n%s\nwant:\n%s", &got, &want)
	}
}

func TestNoReportIsStored(t *testing.T) {
	if _, err := Load(t.TempDir(), "engine"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Load = %v, want an error that says that there is none", err)
	}
}
