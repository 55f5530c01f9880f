// Package recording is what happened in a run of anything that has to do with locks: a list of timed events, which can
// be stored as JSON, and what follows from it.
package recording

import (
	"cmp"
	"math"
	"slices"
)

// A Run is what happened, and for how long it was looked at.
type Run struct {
	Events []Event `json:"events,omitempty"` // in any order
	Length float64 `json:"length_ms"`
}

// An Event is what somebody did, or what befell them: at a moment, or from one until another.
type Event struct {
	Who  string  `json:"who"` // a client, or a server
	Kind Kind    `json:"kind"`
	Text string  `json:"text,omitempty"` // as people read it
	From float64 `json:"from"`           // in milliseconds from the beginning of the run
	To   float64 `json:"to,omitzero"`    // the same; no later than From if it is a moment, as if it were left out
}

// A Kind says what an event is.
type Kind string

const (
	Holds     Kind = "holds"     // believes to hold the lock
	Shares    Kind = "shares"    // believes to hold the lock, which others may share
	Waits     Kind = "waits"     // waits for the lock
	Fault     Kind = "fault"     // is dead, stands still, is cut off, or has a wrong clock, as the text says
	Wrote     Kind = "wrote"     // the resource has accepted a write
	Corrupted Kind = "corrupted" // the same, of somebody whose lock had passed to another, who had written since
	Refused   Kind = "refused"   // the resource has refused such a write
	Noted     Kind = "noted"     // anything else
)

// Open is the To of an event that lasts as long as the run.
const Open = -1

// Lasts reports whether the event is more than a moment.
func (e Event) Lasts() bool { return e.To > e.From }

// End is when the event is over: at once, if it is a moment.
func (e Event) End() float64 { return max(e.From, e.To) }

// IsWrite reports whether the resource has seen it.
func (k Kind) IsWrite() bool { return k == Wrote || k == Corrupted || k == Refused }

// IsHold reports whether somebody believes to hold the lock.
func (k Kind) IsHold() bool { return k == Holds || k == Shares }

// Complete ends a run that took so long. It begins shortly before the first event and ends shortly after the last, and
// so do events that are open. Writes that have corrupted something are known from here on.
func (r *Run) Complete(length float64) {
	r.crop(length)
	slices.SortStableFunc(r.Events, func(a, b Event) int { return cmp.Compare(a.From, b.From) })
	judge(r.Events)
}

// crop moves the beginning and the end of a run to its events.
func (r *Run) crop(length float64) {
	r.Length = length
	if len(r.Events) == 0 {
		return
	}
	first, last := r.Events[0].From, 0.0
	for _, e := range r.Events {
		first, last = min(first, e.From), max(last, e.End())
	}
	const margin = 0.04 // of what happened, and at least so many milliseconds
	rim := max(1, margin*(last-first))
	r.Length = math.Round(1000*(last-first+2*rim)) / 1000
	shifted := func(at float64) float64 { return math.Round(1000*(at-first+rim)) / 1000 } // to whole microseconds
	for i := range r.Events {
		e := &r.Events[i]
		if e.To == Open {
			e.To = last + rim
		}
		e.From, e.To = shifted(e.From), shifted(e.End())
	}
}

// judge finds writes that were accepted of somebody whose lock had passed to another, who had written since. The events
// are in order.
func judge(events []Event) {
	for i := range events {
		late := &events[i]
		if late.Kind != Wrote {
			continue
		}
		for _, w := range events[:i] {
			if w.Kind.IsWrite() && w.Kind != Refused && w.Who != late.Who && since(events, w) > since(events, *late) {
				late.Kind = Corrupted
				late.Text = "its write is accepted, after that of " + w.Who + ", who has got the lock since"
			}
		}
	}
}

// since is when who has written has got the lock, or zero if they never had.
func since(events []Event, write Event) (at float64) {
	for _, e := range events {
		if e.Kind.IsHold() && e.Who == write.Who && e.From <= write.From {
			at = max(at, e.From)
		}
	}
	return at
}

// Count is how many events of a kind there are.
func (r Run) Count(k Kind) (n int) {
	for _, e := range r.Events {
		if e.Kind == k {
			n++
		}
	}
	return n
}

// People are those in a run, in the order in which they appear.
func (r Run) People() (names []string) {
	for _, e := range r.inOrder() {
		if !slices.Contains(names, e.Who) {
			names = append(names, e.Who)
		}
	}
	return names
}
