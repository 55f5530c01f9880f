package experiment

import (
	"os"
	"testing"

	"github.com/holdfast-go/holdfast/lab/actor"
)

func TestMain(m *testing.M) {
	actor.Main()
	os.Exit(m.Run())
}

// Every classic must be seen to fail, and Holdfast must not: an experiment that shows neither proves nothing.
func TestExperiments(t *testing.T) {
	short := os.Getenv("HOLDFAST_SOAK") == ""
	for _, e := range All() {
		t.Run(e.Name, func(t *testing.T) {
			if e.Needs != "" && short {
				t.Parallel() // the others measure how this process uses the processors, and long ones need them all
			}
			r := e.Run(t, Config{Short: short})
			t.Log(r.Verdict())
			if c := r.Complaint(); c != "" {
				t.Error(c)
			}
		})
	}
}
