package experiment

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast"
)

// A Record is what was seen of a variant.
type Record struct {
	Title   string   `json:"title"`
	Ours    bool     `json:"ours"`
	Right   bool     `json:"right"`
	Failed  bool     `json:"failed"`
	Outcome string   `json:"outcome"`
	Overlap float64  `json:"overlap_ms"` // for how long more than one believed to hold the lock
	Spans   []Span   `json:"spans,omitempty"`
	Marks   []Mark   `json:"marks,omitempty"`
	Numbers []Number `json:"numbers,omitempty"`
	Charts  []Chart  `json:"charts,omitempty"`
	Length  float64  `json:"length_ms"`
}

// A Span is a time in which somebody believed to hold the lock, in milliseconds from the start.
type Span struct {
	Who    string  `json:"who"`
	From   float64 `json:"from"`
	To     float64 `json:"to"`
	Shared bool    `json:"shared,omitempty"` // others may hold it too that share it
}

// A Mark is something that happened to somebody.
type Mark struct {
	Who  string  `json:"who"`
	At   float64 `json:"at"`
	Kind Kind    `json:"kind"`
	Text string  `json:"text"`
}

// A Kind of mark is how it looks.
type Kind string

const (
	Crashed  Kind = "crashed"
	Paused   Kind = "paused"
	Wrote    Kind = "wrote"
	Rejected Kind = "rejected"
	Noted    Kind = "noted"
)

// A Number is a measurement.
type Number struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit,omitempty"`
}

// A Chart is lines over the same points, or bars for each of them.
type Chart struct {
	Title  string   `json:"title"`
	X      string   `json:"x,omitempty"` // what the axes say
	Y      string   `json:"y,omitempty"`
	Bars   bool     `json:"bars,omitempty"`
	Limit  float64  `json:"limit,omitempty"` // what of a bar is above it is too much; zero if nothing is
	Points []string `json:"points"`
	Lines  []Series `json:"lines"`
}

// A Series is a line of a chart.
type Series struct {
	Name   string    `json:"name"`
	Values []float64 `json:"values"`
}

// A Trial is a variant while it runs. Several goroutines may call its methods at once.
type Trial struct {
	*environment
	began time.Time

	mu     sync.Mutex
	record Record
}

// run runs a variant, and returns what was seen.
func (e *environment) run(variant Variant) Record {
	s := &Trial{environment: e, began: time.Now(),
		record: Record{Title: variant.Title, Ours: variant.Ours, Right: variant.Right}}
	variant.Run(s)
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.record
	r.crop(s.now())
	r.Overlap = overlap(r.Spans)
	return r
}

// crop has the record begin shortly before the first thing that happened, and end shortly after the last. It took this
// long.
func (r *Record) crop(length float64) {
	first, last := length, 0.0
	for _, s := range r.Spans {
		first, last = min(first, s.From), max(last, s.To)
	}
	for _, m := range r.Marks {
		first, last = min(first, m.At), max(last, m.At)
	}
	if first > last {
		r.Length = length
		return
	}
	const margin = 0.04 // of what happened, and at least so many milliseconds
	rim := max(1, margin*(last-first))
	for i := range r.Spans {
		r.Spans[i].From -= first - rim
		r.Spans[i].To -= first - rim
	}
	for i := range r.Marks {
		r.Marks[i].At -= first - rim
	}
	r.Length = last - first + 2*rim
}

func (s *Trial) now() float64 { return milliseconds(time.Since(s.began)) }

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// Hold begins a time in which somebody believes to hold the lock. The function that it returns ends it.
func (s *Trial) Hold(who string) (end func()) { return s.span(Span{Who: who}) }

// Work is Hold for a moment, in which somebody works.
func (s *Trial) Work(who string) {
	defer s.Hold(who)()
	time.Sleep(20 * time.Millisecond)
}

// Share is Hold of a lock that others may share.
func (s *Trial) Share(who string) (end func()) { return s.span(Span{Who: who, Shared: true}) }

func (s *Trial) span(span Span) (end func()) {
	span.From = s.now()
	return sync.OnceFunc(func() {
		span.To = s.now()
		s.held(span)
	})
}

// held notes a time in which somebody believed to hold the lock.
func (s *Trial) held(span Span) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.record.Spans = append(s.record.Spans, span)
}

// Mark notes that something happened to somebody.
func (s *Trial) Mark(who string, kind Kind, format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.record.Marks = append(s.record.Marks, Mark{who, s.now(), kind, fmt.Sprintf(format, args...)})
}

// Number notes a measurement.
func (s *Trial) Number(name string, value float64, unit string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.record.Numbers = append(s.record.Numbers, Number{name, value, unit})
}

// Chart notes measurements that belong together.
func (s *Trial) Chart(c Chart) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.record.Charts = append(s.record.Charts, c)
}

// Result says how the variant ended: whether the failure was seen, and what was.
func (s *Trial) Result(failed bool, format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.record.Failed, s.record.Outcome = failed, fmt.Sprintf(format, args...)
}

// Exclusive ends a variant whose failure is that several believe to hold the lock: it failed if they did.
func (s *Trial) Exclusive() {
	s.mu.Lock()
	together := overlap(s.record.Spans)
	holders := len(s.record.Spans)
	s.mu.Unlock()
	if together > 0 {
		s.Result(true, "two believed to hold the lock at the same time, for %.0f ms", together)
		return
	}
	s.Result(false, "%d held the lock, one after the other", holders)
}

// Must ends the experiment if something fails that is no part of it.
func (s *Trial) Must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// Client opens a client of Holdfast that is closed with the experiment.
func (s *Trial) Client(url string, opts ...holdfast.Option) *holdfast.Client {
	c, err := holdfast.Open(s.Context(), url, opts...)
	s.Must(err)
	s.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = c.Close(ctx) // what a fault left behind ends with its server
	})
	return c
}

// overlap returns for how long more than one of the spans lasted at the same time.
func overlap(spans []Span) (total float64) {
	for _, o := range Overlaps(spans) {
		total += o.To - o.From
	}
	return total
}

// Overlaps returns the times in which more than one span lasted and at least one of them was not shared, in order.
func Overlaps(spans []Span) (times []Span) {
	var pairs []Span
	for i, a := range spans {
		for _, b := range spans[:i] {
			from, to := max(a.From, b.From), min(a.To, b.To)
			if from < to && !(a.Shared && b.Shared) {
				pairs = append(pairs, Span{From: from, To: to})
			}
		}
	}
	slices.SortFunc(pairs, func(a, b Span) int { return cmp.Compare(a.From, b.From) })
	for _, p := range pairs {
		if n := len(times); n > 0 && p.From <= times[n-1].To {
			times[n-1].To = max(times[n-1].To, p.To)
		} else {
			times = append(times, p)
		}
	}
	return times
}

// Text is the number as people read it.
func (n Number) Text() string {
	text := strconv.FormatFloat(n.Value, 'f', 0, 64)
	if n.Value != math.Trunc(n.Value) && math.Abs(n.Value) < 1000 {
		text = strconv.FormatFloat(n.Value, 'g', 3, 64)
	}
	if n.Unit != "" {
		text += " " + n.Unit
	}
	return text
}
