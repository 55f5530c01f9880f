package report

import (
	"encoding/json"
	"fmt"
	"io"
	"math"

	"github.com/holdfast-go/holdfast/bench/contender"
)

// A Report is a whole run: what was measured, where, and what it is worth.
type Report struct {
	Facts      []Fact
	Contenders []Entrant
	Results    *Results
	Targets    []Target
}

// An Entrant is a contender as it was measured.
type Entrant struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Note    string `json:"note"`
}

// Entrants describes contenders, whose versions it reads from this program's build.
func Entrants(contenders []contender.Contender) []Entrant {
	list := make([]Entrant, len(contenders))
	for i, c := range contenders {
		list[i] = Entrant{Name: c.Name, Version: versionOf(c.Module), Note: c.Note}
	}
	return list
}

// Text writes the report for a terminal.
func (r *Report) Text(w io.Writer) {
	r.Results.measureGrid().text(w)
	fmt.Fprintln(w)
	r.Results.targetGrid(r.Targets).text(w)
	fmt.Fprintln(w)
	for _, f := range r.Facts {
		fmt.Fprintf(w, "%s: %s\n", f.Name, f.Value)
	}
	for _, e := range r.Contenders {
		fmt.Fprintf(w, "%s %s: %s\n", e.Name, e.Version, e.Note)
	}
}

// Markdown writes the report for a page of documentation.
func (r *Report) Markdown(w io.Writer) {
	for _, f := range r.Facts {
		fmt.Fprintf(w, "- %s: %s\n", f.Name, f.Value)
	}
	for _, e := range r.Contenders {
		fmt.Fprintf(w, "- %s %s: %s\n", e.Name, e.Version, e.Note)
	}
	fmt.Fprintln(w)
	r.Results.measureGrid().markdown(w)
	fmt.Fprintln(w)
	r.Results.targetGrid(r.Targets).markdown(w)
}

// JSON writes reports for programs: medians, and every value they come from.
func JSON(w io.Writer, reports []*Report) error {
	list := make([]map[string]any, len(reports))
	for i, r := range reports {
		list[i] = map[string]any{
			"facts":      r.factMap(),
			"contenders": r.Contenders,
			"measures":   r.measureList(),
			"targets":    r.verdictList(),
		}
	}
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(list)
}

func (r *Report) factMap() map[string]string {
	facts := make(map[string]string)
	for _, f := range r.Facts {
		facts[f.Name] = f.Value
	}
	return facts
}

type jsonMeasure struct {
	Key    string               `json:"key"`
	Title  string               `json:"title"`
	Unit   string               `json:"unit"`
	Median map[string]float64   `json:"median"`
	Rounds map[string][]float64 `json:"rounds"`
}

func (r *Report) measureList() []jsonMeasure {
	var list []jsonMeasure
	for _, m := range r.Results.Measures {
		rounds := r.Results.values[m.Key]
		median := make(map[string]float64)
		for name := range rounds {
			median[name] = r.Results.Value(m.Key, name)
		}
		list = append(list, jsonMeasure{m.Key, m.Title, m.Unit, median, rounds})
	}
	return list
}

type jsonVerdict struct {
	Key  string   `json:"key"`
	Want string   `json:"want"`
	Got  *float64 `json:"got"` // null when it was not measured, or cannot be written: a ratio to nothing
	Met  bool     `json:"met"`
}

func (r *Report) verdictList() []jsonVerdict {
	var list []jsonVerdict
	for _, t := range r.Targets {
		v := t.Judge(r.Results)
		j := jsonVerdict{Key: t.Key, Want: t.Want, Met: v.Met}
		if !math.IsNaN(v.Got) && !math.IsInf(v.Got, 0) {
			j.Got = &v.Got
		}
		list = append(list, j)
	}
	return list
}
