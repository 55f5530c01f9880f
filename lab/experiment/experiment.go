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
	Group    string // of experiments that belong together
	Question string
	Needs    string // the server that it runs on; empty if none
	Code     string // the file of the classic, in the folder of the lab
	Variants []Variant
	Answer   func(Report) string // a sentence with what was measured, if each variant went as it should
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
	Name     string    `json:"name"`
	Group    string    `json:"group"`
	Question string    `json:"question"`
	Answer   string    `json:"answer,omitempty"`
	Needs    string    `json:"needs,omitempty"`
	Code     string    `json:"code,omitempty"`    // a file in the folder of the lab
	Missing  string    `json:"missing,omitempty"` // what is not installed: it was not run
	Err      string    `json:"error,omitempty"`   // what went wrong with the experiment itself
	At       time.Time `json:"at,omitzero"`       // when it was run
	Seconds  float64   `json:"seconds"`
	Variants []Record  `json:"variants,omitempty"`
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
	r.At = began
	env := &environment{TB: t, Config: c, servers: make(map[string]string)}
	for _, variant := range e.Variants {
		r.Variants = append(r.Variants, env.run(variant))
	}
	r.Seconds = time.Since(began).Seconds()
	if r.Complaint() == "" {
		r.Answer = e.Answer(r)
	}
	return r
}

func (e Experiment) report() Report {
	return Report{Name: e.Name, Group: e.Group, Question: e.Question, Needs: e.Needs, Code: e.Code}
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

// Verdict is the answer in a sentence, or why there is none.
func (r Report) Verdict() string {
	if r.Missing != "" {
		return "Not run: " + r.Missing
	}
	if c := r.Complaint(); c != "" {
		return "Not as it should be: " + c
	}
	return r.Answer
}

// All returns the experiments, those that need no server first.
func All() []Experiment {
	return slices.Concat(
		group("On one machine", inProcess()),
		group("On Redis", onRedis()),
		group("On several Redis servers", onQuorum()),
		group("On etcd and ZooKeeper", append(onEtcd(), onZooKeeper()...)),
		group("In a database", onDatabase()),
	)
}

func group(name string, members []Experiment) []Experiment {
	for i := range members {
		members[i].Group = name
	}
	return members
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

func inProcess() []Experiment {
	return []Experiment{lostUpdates(), spinning(), starvedWriter(), semaphorePV(), condition(), fairness(), processes()}
}

func onRedis() []Experiment {
	return []Experiment{setnxCrash(), setnxExpireGap(), unlockAnothers(), getSetClocks(), ttlTooShort(), ttlTooLong(),
		fencing(), sentinelFailover()}
}
