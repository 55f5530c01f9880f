package experiment

import (
	"regexp"
	"testing"

	"github.com/holdfast-go/holdfast/lab/recording"
)

// A classic that does not fail is as wrong as Holdfast that does, and neither has an answer.
func TestComplaints(t *testing.T) {
	for _, row := range []struct {
		name    string
		variant Record
		want    bool
	}{
		{"a classic fails", Record{Failed: true}, false},
		{"a classic does not fail", Record{}, true},
		{"a right classic fails", Record{Right: true, Failed: true}, true},
		{"a right classic does not fail", Record{Right: true}, false},
		{"Holdfast fails", Record{Ours: true, Failed: true}, true},
		{"Holdfast does not fail", Record{Ours: true}, false},
	} {
		r := Report{Answer: "All is well.", Variants: []Record{row.variant}}
		if got := r.Complaint(); (got != "") != row.want {
			t.Errorf("%s: complaint %q", row.name, got)
		}
		if got := r.Verdict(); (got != r.Answer) != row.want {
			t.Errorf("%s: verdict %q", row.name, got)
		}
	}
}

func TestNumbersAreReadable(t *testing.T) {
	for _, row := range []struct {
		number Number
		want   string
	}{
		{Number{Value: 0.12345, Unit: "s"}, "0.123 s"},
		{Number{Value: 3599.97, Unit: "s"}, "3600 s"},
		{Number{Value: 426885}, "426885"},
	} {
		if got := row.number.Text(); got != row.want {
			t.Errorf("%v is shown as %q, want %q", row.number.Value, got, row.want)
		}
	}
}

// Answers say what was measured, in a sentence.
func TestAnswers(t *testing.T) {
	numbers := func(name string, value float64) []Number { return []Number{{Name: name, Value: value}} }
	events := func(kinds ...recording.Kind) (r recording.Run) {
		for _, k := range kinds {
			r.Events = append(r.Events, recording.Event{Kind: k})
		}
		return r
	}
	herd := func(n float64) []Chart {
		return []Chart{{Points: []string{"1", "40"}, Lines: []Series{{Values: []float64{1, n}}}}}
	}
	for _, row := range []struct {
		experiment    string
		classic, ours Record
		want          string
	}{
		{"local-lock", Record{Numbers: numbers(oversold, 3)}, Record{Numbers: numbers(oversold, 0)},
			"The shop sold 3 pieces that it did not have; with Holdfast none."},
		{"setnx-crash", Record{}, Record{Numbers: numbers(waitedAfter, 1.94)},
			"After a crash everybody waits for ever; with Holdfast the next client had the lock 1.9 s later."},
		{"ttl-too-long", Record{Numbers: numbers(stillToWait, 600)}, Record{Numbers: numbers(waitedAfter, 2)},
			"After a crash everybody waits 600 s more; with Holdfast the next client had the lock 2.0 s later."},
		{"ttl-too-short", Record{Overlap: 101.2}, Record{},
			"Two clients believed that they held the lock, for 101 ms; with Holdfast never."},
		{"fencing", Record{Run: events(recording.Wrote, recording.Corrupted)},
			Record{Run: events(recording.Wrote, recording.Refused)},
			"1 late write corrupted the account; with Holdfast none did, and 1 late write was refused."},
		{"etcd-wake-all", Record{Charts: herd(40)}, Record{Charts: herd(2)},
			"With 40 waiting, one release sent 40 events; with Holdfast 2."},
	} {
		e, err := Named(row.experiment)
		if err != nil {
			t.Fatal(err)
		}
		row.ours.Ours = true
		if got := e.Answer(Report{Variants: []Record{row.classic, row.ours}}); got != row.want {
			t.Errorf("%s:\n%s, want\n%s", row.experiment, got, row.want)
		}
	}
}

// Each experiment can say what it showed, in one sentence, and belongs to others.
func TestExperimentsAreWhole(t *testing.T) {
	sentence := regexp.MustCompile(`^[A-Z0-9][^.;]*(\.\d[^.;]*)*; [^;]*Holdfast.*[^.]\.$`)
	for _, e := range All() {
		charts := []Chart{{Points: []string{"1"}, Lines: []Series{{Values: []float64{1}}}}}
		r := Report{Variants: []Record{{Charts: charts}}}
		if got := e.Answer(r); !sentence.MatchString(got) {
			t.Errorf("%s is answered by %q", e.Name, got)
		}
		if e.Group == "" || e.Code == "" {
			t.Errorf("%s is in the group %q, and its code in %q", e.Name, e.Group, e.Code)
		}
	}
}
