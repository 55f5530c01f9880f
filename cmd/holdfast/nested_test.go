package main

import (
	"testing"
	"testing/synctest"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/bubble"
	"github.com/holdfast-go/holdfast/memlock"
)

// A backend that stops answering when a run within another one asks who has the lock is given up like any other.
func TestNestedWhereNobodyAnswers(t *testing.T) {
	t.Setenv(heldEnv, heldMark("job", "1"))
	defer bubble.Alone()()
	synctest.Test(t, func(t *testing.T) {
		d := silentTo(memlock.New(), func(op driver.Op) bool { return op.Kind == driver.OpQueue })
		s := &store{Client: holdfast.New(d), driver: d}
		defer s.Client.Close(t.Context())
		if (&plan{name: "job", runFlags: runFlags{slots: 1}}).isNested(t.Context(), s) {
			t.Error("it is nested, though nobody says so")
		}
	})
}
