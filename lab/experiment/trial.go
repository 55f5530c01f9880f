package experiment

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/lab/recording"
)

// A Record is what was seen of a variant.
type Record struct {
	Title   string  `json:"title"`
	Ours    bool    `json:"ours"`
	Right   bool    `json:"right"`
	Failed  bool    `json:"failed"`
	Outcome string  `json:"outcome"`
	Overlap float64 `json:"overlap_ms"` // for how long more than one believed to hold the lock
	recording.Run
	Numbers []Number `json:"numbers,omitempty"`
	Charts  []Chart  `json:"charts,omitempty"`
}

// A Number is a measurement.
type Number struct {
	Name  string   `json:"name"`
	Value float64  `json:"value"`
	Unit  string   `json:"unit,omitempty"`
	Limit *float64 `json:"limit,omitempty"` // what is above it is harm; nil if none of it is
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
	r.Events = slices.Clone(r.Events) // of which some may end later than the variant
	r.Complete(s.now())
	r.Overlap = r.Run.Overlap()
	return r
}

func (s *Trial) now() float64 { return milliseconds(time.Since(s.began)) }

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// Hold begins a time in which somebody believes to hold the lock. The function that it returns ends it; else it lasts
// as long as the variant.
func (s *Trial) Hold(who string) (end func()) {
	return s.until(recording.Event{Who: who, Kind: recording.Holds})
}

// Work is Hold for a moment, in which somebody works.
func (s *Trial) Work(who string) { s.WorkFor(who, 20*time.Millisecond) }

// WorkFor is Work for as long as it says.
func (s *Trial) WorkFor(who string, d time.Duration) {
	defer s.Hold(who)()
	time.Sleep(d)
}

// Share is Hold of a lock that others may share.
func (s *Trial) Share(who string) (end func()) {
	return s.until(recording.Event{Who: who, Kind: recording.Shares})
}

// Wait begins a time in which somebody waits for the lock, as Hold does.
func (s *Trial) Wait(who string) (end func()) {
	return s.until(recording.Event{Who: who, Kind: recording.Waits})
}

// Fault begins a time in which something is wrong with a client or a server, as Hold does.
func (s *Trial) Fault(who, text string) (end func()) {
	return s.until(recording.Event{Who: who, Kind: recording.Fault, Text: text})
}

// until begins an event that the function which it returns ends.
func (s *Trial) until(e recording.Event) (end func()) {
	finish := s.start(e)
	return sync.OnceFunc(func() { finish(s.now()) })
}

// start notes an event that begins now, and returns what notes when it ended.
func (s *Trial) start(e recording.Event) (end func(at float64)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := len(s.record.Events)
	e.From, e.To = s.now(), recording.Open
	s.record.Events = append(s.record.Events, e)
	return func(at float64) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.record.Events[i].To = max(at, e.From)
	}
}

// Mark notes that something happened to somebody.
func (s *Trial) Mark(who string, kind recording.Kind, format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	s.record.Events = append(s.record.Events, recording.Event{Who: who, Kind: kind, Text: fmt.Sprintf(format, args...),
		From: now, To: now})
}

// Number notes a measurement.
func (s *Trial) Number(name string, value float64, unit string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.record.Numbers = append(s.record.Numbers, Number{Name: name, Value: value, Unit: unit})
}

// Harm notes a measurement that is harm where it is above a limit. Pages compare it with that of other variants.
func (s *Trial) Harm(name string, value float64, unit string, limit float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.record.Numbers = append(s.record.Numbers, Number{name, value, unit, &limit})
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
	together, holders := s.record.Run.Overlap(), s.record.Count(recording.Holds)
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
