package model_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/internal/model"
)

// Two processes add one to a number, each in two steps: it reads, and it writes.
type adders struct {
	number uint8
	read   [2]uint8
	done   [2]uint8 // steps
}

func adding(atomic bool) model.Model[adders] {
	return model.Model[adders]{
		Next: func(s adders, step func(adders, string)) {
			for p := range s.done {
				next := s
				next.done[p]++
				switch {
				case s.done[p] == 0 && !atomic:
					next.read[p] = s.number
					step(next, "reads")
				case s.done[p] == 0:
					next.number++
					next.done[p] = 2
					step(next, "adds")
				case s.done[p] == 1:
					next.number = s.read[p] + 1
					step(next, "writes")
				}
			}
		},
		Wrong: func(s adders) string {
			if s.done == [2]uint8{2, 2} && s.number != 2 {
				return "an addition is lost"
			}
			return ""
		},
	}
}

func TestWalkFindsTheShortestWay(t *testing.T) {
	r, err := adding(false).Walk()
	if err != nil || r.Wrong != "an addition is lost" {
		t.Fatal(r.Wrong, err)
	}
	var whats []string
	for _, s := range r.Trace {
		whats = append(whats, s.What)
	}
	if want := []string{"start", "reads", "reads", "writes", "writes"}; !slices.Equal(whats, want) {
		t.Errorf("the way is %q, want %q", whats, want)
	}
	if text := r.String(); !strings.Contains(text, "an addition is lost, after 4 steps") ||
		!strings.Contains(text, "   4. writes: done[1] 2\n") {
		t.Errorf("it is told as %s", text)
	}
}

func TestWalkMeetsEveryStateOnce(t *testing.T) {
	r, err := adding(true).Walk()
	if err != nil || r.Wrong != "" || r.States != 4 || r.Steps != 5 {
		t.Errorf("%+v, %v, want 4 states and 5 steps, with the one to the start", r, err)
	}
}

// Of states that differ in the names of the processes, one is enough.
func TestWalkOfStatesThatAreAlike(t *testing.T) {
	m := adding(true)
	m.Alike = func(s adders) adders {
		if s.done[0] < s.done[1] {
			s.done[0], s.done[1] = s.done[1], s.done[0]
		}
		return s
	}
	if r, err := m.Walk(); err != nil || r.States != 3 {
		t.Errorf("%+v, %v, want 3 states", r, err)
	}
}

func TestWalkIsBoundedByStates(t *testing.T) {
	endless := model.Model[int]{
		Next:  func(s int, step func(int, string)) { step(s+1, "on") },
		Wrong: func(int) string { return "" },
		Most:  1000,
	}
	if r, err := endless.Walk(); err == nil || r.States != 1001 {
		t.Errorf("%d states, %v, want an error after 1001", r.States, err)
	}
}

// One who walks in a circle can always come home; from the pit there is no way out.
func TestWalkAsksWhetherGoodCanFollow(t *testing.T) {
	const pit = 9
	circle := func(holed bool) model.Model[int] {
		return model.Model[int]{
			Next: func(s int, step func(int, string)) {
				if s == pit {
					return
				}
				step(s, "stays")
				step((s+1)%5, "goes on")
				if holed && s == 3 {
					step(pit, "falls")
				}
			},
			Wrong: func(int) string { return "" },
			Good:  func(s int) bool { return s == 1 },
		}
	}
	model.Holds(t, circle(false))
	model.Breaks(t, circle(true), model.NoWayOn)
	r, err := circle(true).Walk()
	if err != nil || len(r.Trace) != 5 || r.Trace[4].What != "falls" {
		t.Errorf("%v, %v, want the way into the pit", r, err)
	}
}

// recorder is a test that may fail without harm.
type recorder struct {
	testing.TB
	failed bool
}

func (r *recorder) Helper()               {}
func (r *recorder) Log(...any)            {}
func (r *recorder) Error(...any)          { r.failed = true }
func (r *recorder) Errorf(string, ...any) { r.failed = true }

func TestChecksCanFail(t *testing.T) {
	right, wrong := adding(true), adding(false)
	tooBig := right
	tooBig.Most = 1
	for _, row := range []struct {
		name  string
		check func(testing.TB)
		fails bool
	}{
		{"right, as it should be", func(t testing.TB) { model.Holds(t, right) }, false},
		{"wrong, though it should hold", func(t testing.TB) { model.Holds(t, wrong) }, true},
		{"too big to hold", func(t testing.TB) { model.Holds(t, tooBig) }, true},
		{"wrong, as it should be", func(t testing.TB) { model.Breaks(t, wrong, "is lost") }, false},
		{"wrong in another way", func(t testing.TB) { model.Breaks(t, wrong, "deadlock") }, true},
		{"right, though a rule is broken", func(t testing.TB) { model.Breaks(t, right, "is lost") }, true},
		{"too big to break", func(t testing.TB) { model.Breaks(t, tooBig, "is lost") }, true},
	} {
		r := &recorder{}
		row.check(r)
		if r.failed != row.fails {
			t.Errorf("%s: failed is %v, want %v", row.name, r.failed, row.fails)
		}
	}
}
