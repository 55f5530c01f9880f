package report

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/holdfast-go/holdfast/bench/cases"
	"github.com/holdfast-go/holdfast/bench/contender"
	"github.com/holdfast-go/holdfast/bench/stats"
)

// A Report is a whole run on one engine: what was measured, where, and what it is worth. It is what people are shown,
// and what is stored.
type Report struct {
	Engine     string    `json:"engine"`
	Pin        string    `json:"pin,omitempty"` // the cores that client and server had, if they were given some
	Facts      []Fact    `json:"facts"`
	Contenders []Entrant `json:"contenders"` // the limit, ours and the rivals
	Rows       []Row     `json:"measures"`
	Verdicts   []Verdict `json:"targets"`
}

// An Entrant is a contender as it was measured.
type Entrant struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Note    string `json:"note"`
}

// A Row is a measure with everybody's value, which is the median over the rounds, and how ours compares.
type Row struct {
	cases.Measure
	Median map[string]float64   `json:"median"`
	Limit  *Ratio               `json:"times_limit,omitempty"`
	Rival  *Ratio               `json:"times_best_rival,omitempty"`
	Rounds map[string][]float64 `json:"rounds,omitempty"`
}

// A Ratio is how many times another's value ours is: in the median of the rounds, and in those where it was least and
// most.
type Ratio struct {
	Median float64 `json:"median"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
}

// New returns the report of what was measured on an engine.
func New(engine string, facts []Fact, contenders []contender.Contender, r *Results, targets []Target) *Report {
	report := &Report{Engine: engine, Facts: facts, Contenders: entrants(contenders)}
	for _, m := range r.Measures {
		report.Rows = append(report.Rows, r.row(m))
	}
	for _, t := range targets {
		report.Verdicts = append(report.Verdicts, t.Judge(r))
	}
	return report
}

// entrants describes contenders, whose versions it reads from this program's build.
func entrants(contenders []contender.Contender) []Entrant {
	list := make([]Entrant, len(contenders))
	for i, c := range contenders {
		list[i] = Entrant{Name: c.Name, Version: versionOf(c.Module), Note: c.Note}
	}
	return list
}

func (r *Results) row(m cases.Measure) Row {
	row := Row{Measure: m, Rounds: r.values[m.Key], Median: make(map[string]float64)}
	for name := range row.Rounds {
		row.Median[name] = r.Value(m.Key, name)
	}
	row.Limit = ratioOf(r.ratios(m.Key, r.Cast.Ours, r.Cast.Limit))
	if best, ok := r.BestRival(m); ok {
		row.Rival = ratioOf(r.ratios(m.Key, r.Cast.Ours, best))
	}
	return row
}

// ratioOf sums up the ratios of rounds; nil stands for none, and for a ratio to nothing.
func ratioOf(rounds []float64) *Ratio {
	if len(rounds) == 0 || known(slices.Max(rounds)) == nil {
		return nil
	}
	return &Ratio{Median: stats.Median(rounds), Low: slices.Min(rounds), High: slices.Max(rounds)}
}

// Fact returns what the report says of something, or nothing.
func (r *Report) Fact(name string) string {
	for _, f := range r.Facts {
		if f.Name == name {
			return f.Value
		}
	}
	return ""
}

// Row finds what was measured by its key.
func (r *Report) Row(key string) (Row, bool) {
	i := slices.IndexFunc(r.Rows, func(row Row) bool { return row.Key == key })
	if i < 0 {
		return Row{}, false
	}
	return r.Rows[i], true
}

// Text writes the report for a terminal.
func (r *Report) Text(w io.Writer) {
	r.measureGrid().text(w)
	fmt.Fprintln(w)
	if len(r.Verdicts) > 0 {
		r.targetGrid().text(w)
		fmt.Fprintln(w)
	}
	for _, f := range r.Facts {
		fmt.Fprintf(w, "%s: %s\n", f.Name, f.Value)
	}
	for _, e := range r.Contenders {
		fmt.Fprintf(w, "%s %s: %s\n", e.Name, e.Version, e.Note)
	}
}

// Markdown writes the report for a page of documentation.
func (r *Report) Markdown(w io.Writer) {
	r.markdownFacts(w)
	for _, e := range r.Contenders {
		fmt.Fprintf(w, "- %s %s: %s\n", e.Name, e.Version, e.Note)
	}
	fmt.Fprintln(w)
	r.measureGrid().markdown(w)
	if len(r.Verdicts) > 0 {
		fmt.Fprintln(w)
		r.targetGrid().markdown(w)
	}
}

// MarkdownBrief writes what differs from another run of the same contenders, which stands before it.
func (r *Report) MarkdownBrief(w io.Writer) {
	r.markdownFacts(w)
	fmt.Fprintln(w)
	r.measureGrid().markdown(w)
}

func (r *Report) markdownFacts(w io.Writer) {
	for _, f := range r.Facts {
		fmt.Fprintf(w, "- %s: %s\n", f.Name, f.Value)
	}
}

// JSON writes reports for programs: medians, and every value they come from.
func JSON(w io.Writer, reports []*Report) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(reports)
}
