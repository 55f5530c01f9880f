package recording

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"
)

// Two that share do not overlap; whoever does not share overlaps with all.
func TestOverlaps(t *testing.T) {
	hold := func(who string, from, to float64) Event { return Event{Who: who, Kind: Holds, From: from, To: to} }
	share := func(who string, from, to float64) Event { return Event{Who: who, Kind: Shares, From: from, To: to} }
	for _, row := range []struct {
		name   string
		events []Event
		want   []Period
	}{
		{"one after the other", []Event{hold("A", 0, 1), hold("B", 1, 2)}, nil},
		{"two at once", []Event{hold("B", 1, 3), hold("A", 0, 2)}, []Period{{1, 2}}},
		{"within a long one", []Event{hold("A", 0, 9), hold("B", 1, 2), hold("C", 3, 4)}, []Period{{1, 2}, {3, 4}}},
		{"three at once count once", []Event{hold("A", 0, 4), hold("B", 1, 3), hold("C", 2, 5)}, []Period{{1, 4}}},
		{"readers", []Event{share("A", 0, 2), share("B", 1, 3)}, nil},
		{"a reader and a writer", []Event{share("A", 0, 2), hold("B", 1, 3)}, []Period{{1, 2}}},
		{"who waits does not hold", []Event{hold("A", 0, 2), {Who: "B", Kind: Waits, From: 0, To: 2}}, nil},
	} {
		if got := (Run{Events: row.events}).Overlaps(); !slices.Equal(got, row.want) {
			t.Errorf("%s: %v overlap in %v, want %v", row.name, row.events, got, row.want)
		}
	}
}

// What servers need to start is not part of a run, and what is not ended lasts as long as the run.
func TestComplete(t *testing.T) {
	r := Run{Events: []Event{
		{Who: "B", Kind: Noted, From: 5050, To: 5050},
		{Who: "A", Kind: Holds, From: 5000, To: 5100},
		{Who: "A", Kind: Fault, From: 5060, To: Open},
	}}
	r.Complete(9000)
	if r.Length > 110 || r.Events[0].From < 0 || r.Events[0].To > r.Length || r.Events[1].From-r.Events[0].From != 50 ||
		r.Events[1].Lasts() || r.Events[2].To != r.Length {
		t.Errorf("completed to %+v", r)
	}
	nothing := new(Run)
	if nothing.Complete(7); nothing.Length != 7 {
		t.Errorf("without anything in it it lasts %v", nothing.Length)
	}
}

// A moment stays one, whatever is cut off before it: else a step would follow in which nothing happens.
func TestMomentsStayMoments(t *testing.T) {
	r := Run{Events: []Event{{Who: "A", Kind: Holds, From: 5123.457, To: 9000}}}
	for at := 5200.1; at < 8000; at += 33.377 {
		r.Events = append(r.Events, Event{Who: "B", Kind: Noted, Text: "!", From: at, To: at})
	}
	r.Complete(9100)
	if steps := r.Steps(); len(steps) != len(r.Events)+2 {
		t.Errorf("%d events have %d steps, want one for each, for A's end, and for the beginning", len(r.Events),
			len(steps))
	}
}

// late is a run in which A is paused until B has the lock and has written, and then writes.
var late = Run{Length: 100, Events: []Event{
	{Who: "A", Kind: Holds, From: 0, To: 80},
	{Who: "A", Kind: Fault, Text: "stands still", From: 10, To: 60},
	{Who: "B", Kind: Waits, From: 20, To: 40},
	{Who: "B", Kind: Holds, From: 40, To: 100},
	{Who: "B", Kind: Wrote, From: 50},
	{Who: "A", Kind: Wrote, Text: "its write is accepted", From: 70},
}}

// A write corrupts if somebody has written who has got the lock later, and not if it comes before theirs.
func TestLateWritesCorrupt(t *testing.T) {
	refused := Run{Events: slices.Clone(late.Events)}
	refused.Events[4].Kind = Refused
	early := Run{Events: slices.Clone(late.Events)}
	early.Events[5].From = 45
	for _, row := range []struct {
		name string
		run  Run
		want int
	}{
		{"after B's", Run{Events: slices.Clone(late.Events)}, 1},
		{"after one of B's that was refused", refused, 0},
		{"before B's", early, 0},
	} {
		if row.run.Complete(100); row.run.Count(Corrupted) != row.want {
			t.Errorf("%s: %+v", row.name, row.run.Events)
		}
	}
}

// A run is told moment by moment.
func TestSteps(t *testing.T) {
	var got Step
	for _, s := range late.Steps() {
		if s.At == 50 {
			got = s
		}
		if s.At == 40 && (len(s.Waits) != 0 || len(s.Holds) != 2) {
			t.Errorf("when B has got the lock it says %+v", s)
		}
	}
	want := Step{At: 50, Now: []string{}, Holds: []string{"A", "B"}, Waits: []string{},
		Faults: []string{"A: stands still"}, Saw: []Saw{{"B", Wrote}}, Danger: true}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	steps := late.Steps()
	if s := steps[0]; s.Danger || !slices.Equal(s.Now, []string{"A has the lock"}) {
		t.Errorf("it begins with %+v", s)
	}
	if s := steps[len(steps)-1]; s.At != 100 || len(s.Holds) != 0 || len(s.Saw) != 2 {
		t.Errorf("it ends with %+v", s)
	}
	for _, s := range steps {
		if s.At == 60 && !slices.Equal(s.Now, []string{"A is well again"}) {
			t.Errorf("at the end of the fault it says %q", s.Now)
		}
	}
}

// The moment that decides is that of the late write, whether it was accepted or not, or the first overlap. What is
// around it is part of the run, and small enough to be shown larger.
func TestDecisive(t *testing.T) {
	accepted, refused := Run{Length: 100, Events: slices.Clone(late.Events)}, Run{Length: 100}
	accepted.Events[5].Kind = Corrupted
	refused.Events = slices.Clone(accepted.Events)
	refused.Events[5].Kind = Refused
	for _, row := range []struct {
		name string
		run  Run
		want Event
	}{
		{"a write that corrupts", accepted, accepted.Events[5]},
		{"a write that is refused", refused, refused.Events[5]},
		{"two at once", late, Event{Kind: Holds, Text: "two believe to hold the lock", From: 40, To: 80}},
	} {
		got, around, ok := row.run.Decisive()
		if !ok || got != row.want {
			t.Errorf("%s: %v, %+v, want %+v", row.name, ok, got, row.want)
		}
		if around.From < 0 || around.To > 100 || around.To-around.From > 25 || got.From < around.From ||
			got.From > around.To {
			t.Errorf("%s: a closer look at %v for what is at %v", row.name, around, got.From)
		}
	}
	if at, _, ok := (Run{Length: 9, Events: late.Events[:1]}).Decisive(); ok {
		t.Errorf("nothing is decided, and yet at %+v", at)
	}
}

// Runs are stored as JSON, and moments have no end in it.
func TestJSON(t *testing.T) {
	text, err := json.Marshal(Run{Length: 2, Events: []Event{{Who: "A", Kind: Noted, From: 1}}})
	if want := `{"events":[{"who":"A","kind":"noted","from":1}],"length_ms":2}`; err != nil || string(text) != want {
		t.Errorf("%v, %s, want %s", err, text, want)
	}
}
