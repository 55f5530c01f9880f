// Package experiment shows how the locks of textbooks fail, and that Holdfast's do not, in variants of each
// experiment on real servers: some with a classic algorithm, which must be seen to fail, and the same work with
// Holdfast, which must not.
package experiment

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/lab/testbed"
)

// An Experiment answers one question.
type Experiment struct {
	Name     string
	Question string
	Needs    string // the server that it runs on; empty if none
	Variants []Variant
}

// A Variant is one algorithm that an experiment tries.
type Variant struct {
	Title string
	Ours  bool         // it is Holdfast's
	Right bool         // it is a classic that must not fail, as Holdfast must not; others must
	Run   func(*Trial) // says with Trial.Result that it has failed
}

// A Report is what an experiment showed.
type Report struct {
	Name     string   `json:"name"`
	Question string   `json:"question"`
	Needs    string   `json:"needs,omitempty"`
	Missing  string   `json:"missing,omitempty"` // what is not installed: it was not run
	Err      string   `json:"error,omitempty"`   // what went wrong with the experiment itself
	Seconds  float64  `json:"seconds"`
	Variants []Record `json:"acts,omitempty"`
}

// A Config says how experiments are run.
type Config struct {
	Short   bool   // smaller crowds: for tests
	Backend string // URL of a server to be used instead of one of the same kind that would be started
}

// longest bounds an experiment, should something hang.
const longest = 2 * time.Minute

// Run runs an experiment outside of a test.
func Run(ctx context.Context, e Experiment, c Config) (r Report) {
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	missing, err := testbed.Outside(ctx, func(t testing.TB) error {
		r = e.Run(t, c)
		return nil
	})
	if missing != "" || err != nil {
		r = e.report()
		r.Missing = missing
	}
	if err != nil {
		r.Err = err.Error()
	}
	return r
}

// Run runs all variants, one after the other.
func (e Experiment) Run(t testing.TB, c Config) Report {
	r, began := e.report(), time.Now()
	env := &environment{TB: t, Config: c, servers: make(map[string]string)}
	for _, variant := range e.Variants {
		r.Variants = append(r.Variants, env.run(variant))
	}
	r.Seconds = time.Since(began).Seconds()
	return r
}

func (e Experiment) report() Report {
	return Report{Name: e.Name, Question: e.Question, Needs: e.Needs}
}

// Complaint says what is wrong with the outcome, or nothing: a classic that did not fail proves nothing.
func (r Report) Complaint() string {
	if r.Err != "" {
		return r.Err
	}
	for _, a := range r.Variants {
		switch {
		case (a.Ours || a.Right) && a.Failed:
			return fmt.Sprintf("%s failed: %s", a.Title, a.Outcome)
		case !a.Ours && !a.Right && !a.Failed:
			return fmt.Sprintf("%s did not fail: %s", a.Title, a.Outcome)
		}
	}
	return ""
}

// Verdict is the answer in a sentence or two.
func (r Report) Verdict() string {
	if r.Missing != "" {
		return "not run: " + r.Missing
	}
	if c := r.Complaint(); c != "" {
		return "NOT AS IT SHOULD BE: " + c
	}
	var said []string
	for _, a := range r.Variants {
		said = append(said, a.Title+": "+a.Outcome)
	}
	return strings.Join(said, ". ") + "."
}

// All returns the experiments, those that need no server first.
func All() []Experiment {
	return slices.Concat(inProcess(), onRedis(), onQuorum(), onEtcd(), onZooKeeper(), onDatabase())
}

// Named returns the experiment of that name.
func Named(name string) (Experiment, error) {
	var names []string
	for _, e := range All() {
		if e.Name == name {
			return e, nil
		}
		names = append(names, e.Name)
	}
	return Experiment{}, fmt.Errorf("nobody knows the experiment %q; there are %s", name, strings.Join(names, ", "))
}
