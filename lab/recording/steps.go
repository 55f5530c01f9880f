package recording

import (
	"cmp"
	"slices"
)

// A Step is how things are from a moment on, until the next step. Its lists have a line for each client or write.
type Step struct {
	At     float64  `json:"at"` // in milliseconds from the beginning of the run
	Now    []string `json:"now"`
	Holds  []string `json:"holds"`  // who believes to hold the lock
	Waits  []string `json:"waits"`  // who waits for it
	Faults []string `json:"faults"` // which are on
	Saw    []Saw    `json:"saw"`    // what the resource has seen so far
	Danger bool     `json:"danger"` // two believe to hold the lock who do not share it
}

// Saw is a write, as the resource saw it.
type Saw struct {
	Who  string `json:"who"`
	Kind Kind   `json:"kind"`
}

// Steps go through a run, from its beginning to its end.
func (r Run) Steps() (steps []Step) {
	for _, at := range r.moments() {
		steps = append(steps, r.at(at))
	}
	return steps
}

// moments are when something begins or ends, in order, and the beginning of the run.
func (r Run) moments() []float64 {
	all := []float64{0}
	for _, e := range r.Events {
		all = append(all, e.From, e.End())
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// at is how things are at a moment.
func (r Run) at(at float64) Step {
	// lists that are empty, rather than none, in JSON
	s := Step{At: at, Now: []string{}, Holds: []string{}, Waits: []string{}, Faults: []string{}, Saw: []Saw{}}
	exclusive := false
	for _, e := range r.inOrder() {
		s.Now = append(s.Now, e.said(at)...)
		on := e.From <= at && at < e.To
		switch {
		case e.Kind.IsWrite() && e.From <= at:
			s.Saw = append(s.Saw, Saw{e.Who, e.Kind})
		case !on:
		case e.Kind == Holds:
			s.Holds, exclusive = append(s.Holds, e.Who), true
		case e.Kind == Shares:
			s.Holds = append(s.Holds, e.Who)
		case e.Kind == Waits:
			s.Waits = append(s.Waits, e.Who)
		case e.Kind == Fault:
			s.Faults = append(s.Faults, e.Who+": "+e.Text)
		}
	}
	s.Danger = exclusive && len(s.Holds) > 1
	return s
}

func (r Run) inOrder() []Event {
	events := slices.Clone(r.Events)
	slices.SortStableFunc(events, func(a, b Event) int { return cmp.Compare(a.From, b.From) })
	return events
}

// said is what is told of an event at a moment: that it happens, begins or ends.
func (e Event) said(at float64) []string {
	begins := map[Kind]string{Holds: "has the lock", Shares: "shares the lock", Waits: "waits"}
	ends := map[Kind]string{Holds: "has it no more", Shares: "shares it no more", Fault: "is well again"}
	switch {
	case at == e.From && e.Text != "":
		return []string{e.Who + ": " + e.Text}
	case at == e.From && begins[e.Kind] != "":
		return []string{e.Who + " " + begins[e.Kind]}
	case at == e.To && e.Lasts() && ends[e.Kind] != "":
		return []string{e.Who + " " + ends[e.Kind]}
	}
	return nil
}
