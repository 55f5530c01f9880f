package model

import (
	"strings"
	"testing"
)

// Holds fails the test if something is wrong in a state that the model can reach, and shows the shortest way there.
func Holds[S comparable](t testing.TB, m Model[S]) {
	t.Helper()
	r, err := m.Walk()
	switch {
	case err != nil:
		t.Error(err)
	case r.Wrong != "":
		t.Errorf("%s", r)
	default:
		t.Log(r)
	}
}

// Breaks fails the test unless the walk finds that something is wrong, and that it is what is wanted. It is for a model
// one of whose rules is left out.
func Breaks[S comparable](t testing.TB, m Model[S], want string) {
	t.Helper()
	r, err := m.Walk()
	switch {
	case err != nil:
		t.Error(err)
	case r.Wrong == "":
		t.Errorf("nothing is wrong in %d states, though a rule is broken; want %q", r.States, want)
	case !strings.Contains(r.Wrong, want):
		t.Errorf("want %q, and found another fault: %s", want, r)
	default:
		t.Log(r)
	}
}
