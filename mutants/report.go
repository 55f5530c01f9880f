package main

import (
	"fmt"
	"strings"
)

// A verdict is what became of a mutant.
type verdict string

const (
	killed      verdict = "killed"
	survived    verdict = "survived"
	isExplained verdict = "explained" // it survives, and somebody wrote down why that is right
	unbuilt     verdict = "unbuilt"   // it does not compile, and so counts for nothing
	equal       verdict = "equal"     // it is the same program, and so counts for nothing
)

// An outcome is what became of one mutant.
type outcome struct {
	Mutant  string  `json:"mutant"`
	Before  string  `json:"before"`
	After   string  `json:"after"`
	Verdict verdict `json:"verdict"`
	By      string  `json:"by,omitempty"`     // the test that noticed
	Reason  string  `json:"reason,omitempty"` // why it may survive
	Seconds float64 `json:"seconds"`
}

func (o outcome) counts() bool { return o.Verdict != unbuilt && o.Verdict != equal }

// String is a row of the table; of one that survives it shows the change.
func (o outcome) String() string {
	row := fmt.Sprintf("%-9s %6.1f  %s", o.Verdict, o.Seconds, o.Mutant)
	switch o.Verdict {
	case killed:
		return row + "  " + o.By
	case isExplained:
		return row + "  " + o.Reason
	}
	return row + "\n" + marked("-", o.Before) + marked("+", o.After)
}

// marked is text with a mark before each line.
func marked(mark, text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		fmt.Fprintf(&b, "    %s %s\n", mark, strings.TrimSpace(line))
	}
	return b.String()
}

// A report is what became of the mutants of a driver.
type report struct {
	Driver    string    `json:"driver"`
	Seed      uint64    `json:"seed"`
	Killed    int       `json:"killed"`
	Tried     []outcome `json:"tried"`
	Uncounted int       `json:"uncounted"` // equal, or not compiled
}

func (r *report) add(o outcome) {
	r.Tried = append(r.Tried, o)
	if o.Verdict == killed {
		r.Killed++
	}
}

func (r report) count(v verdict) int {
	n := 0
	for _, o := range r.Tried {
		if o.Verdict == v {
			n++
		}
	}
	return n
}

// String is the summary.
func (r report) String() string {
	percent := 100
	if len(r.Tried) > 0 {
		percent = 100 * r.Killed / len(r.Tried)
	}
	return fmt.Sprintf("%s: killed %d of %d (%d%%); %d survive, %d are explained; %d more were equal or not compiled",
		r.Driver, r.Killed, len(r.Tried), percent, r.count(survived), r.count(isExplained), r.Uncounted)
}
