package experiment

import (
	"slices"
	"testing"
)

// Two that share do not overlap; whoever does not share overlaps with all.
func TestOverlaps(t *testing.T) {
	for _, row := range []struct {
		name  string
		spans []Span
		want  []Span
	}{
		{"one after the other", []Span{{"A", 0, 1, false}, {"B", 1, 2, false}}, nil},
		{"two at once", []Span{{"B", 1, 3, false}, {"A", 0, 2, false}}, []Span{{From: 1, To: 2}}},
		{"within a long one", []Span{{"A", 0, 9, false}, {"B", 1, 2, false}, {"C", 3, 4, false}},
			[]Span{{From: 1, To: 2}, {From: 3, To: 4}}},
		{"three at once count once", []Span{{"A", 0, 4, false}, {"B", 1, 3, false}, {"C", 2, 5, false}},
			[]Span{{From: 1, To: 4}}},
		{"readers", []Span{{"A", 0, 2, true}, {"B", 1, 3, true}}, nil},
		{"a reader and a writer", []Span{{"A", 0, 2, true}, {"B", 1, 3, false}}, []Span{{From: 1, To: 2}}},
	} {
		if got := Overlaps(row.spans); !slices.Equal(got, row.want) {
			t.Errorf("%s: %v overlap in %v, want %v", row.name, row.spans, got, row.want)
		}
	}
}

// A classic that does not fail is as wrong as Holdfast that does.
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
		if got := (Report{Variants: []Record{row.variant}}).Complaint(); (got != "") != row.want {
			t.Errorf("%s: complaint %q", row.name, got)
		}
	}
}

// What servers need to start is not part of the picture.
func TestCrop(t *testing.T) {
	r := Record{Spans: []Span{{Who: "A", From: 5000, To: 5100}}, Marks: []Mark{{Who: "B", At: 5050}}}
	r.crop(9000)
	if r.Length > 110 || r.Spans[0].From < 0 || r.Spans[0].To > r.Length || r.Marks[0].At-r.Spans[0].From != 50 {
		t.Errorf("cropped to %+v", r)
	}
	nothing := new(Record)
	if nothing.crop(7); nothing.Length != 7 {
		t.Errorf("without anything in it it lasts %v", nothing.Length)
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
