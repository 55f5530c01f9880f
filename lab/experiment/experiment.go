// Package experiment shows how the locks of textbooks fail, and that Holdfast's do not, in acts that are played on real
// servers: some with a classic algorithm, which must be seen to fail, and the same work with Holdfast, which must not.
package experiment

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/lab/stage"
)

// An Experiment answers one question.
type Experiment struct {
	Name     string
	Question string
	Needs    string // the server that it runs on; empty if none
	Acts     []Act
}

// An Act is one algorithm at work.
type Act struct {
	Title string
	Ours  bool        // it is Holdfast's
	Right bool        // it is a classic that must not fail, as Holdfast must not; others must
	Play  func(*Show) // says with Show.Fail that it has failed
}

// A Report is what an experiment showed.
type Report struct {
	Name     string   `json:"name"`
	Question string   `json:"question"`
	Needs    string   `json:"needs,omitempty"`
	Missing  string   `json:"missing,omitempty"` // what is not installed: it was not run
	Err      string   `json:"error,omitempty"`   // what went wrong with the experiment itself
	Seconds  float64  `json:"seconds"`
	Acts     []Record `json:"acts,omitempty"`
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
	missing, err := stage.Set(ctx, func(t testing.TB) error {
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

// Run plays all acts, one after the other.
func (e Experiment) Run(t testing.TB, c Config) Report {
	r, began := e.report(), time.Now()
	h := &house{TB: t, Config: c, servers: make(map[string]string)}
	for _, act := range e.Acts {
		r.Acts = append(r.Acts, h.play(act))
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
	for _, a := range r.Acts {
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
	for _, a := range r.Acts {
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
