package proof

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/systemtest/history"
)

// A page is a run as `lab replay` reads it: of each lock with which something was wrong, or of all if nothing was.
type page struct {
	Name     string   `json:"name"`
	Group    string   `json:"group"`
	Question string   `json:"question"`
	Answer   string   `json:"answer"`
	Seconds  float64  `json:"seconds"`
	Variants []course `json:"variants"`
}

// A course is what happened to one lock.
type course struct {
	Title   string  `json:"title"`
	Ours    bool    `json:"ours"`
	Failed  bool    `json:"failed"`
	Outcome string  `json:"outcome"`
	Events  []event `json:"events"`
	Length  float64 `json:"length_ms"`
}

// An event is what somebody did, or what befell them. Times are in milliseconds since the beginning.
type event struct {
	Who  string  `json:"who"`
	Kind string  `json:"kind"`
	Text string  `json:"text,omitempty"`
	From float64 `json:"from"`
	To   float64 `json:"to,omitzero"`
}

// WritePage writes what `lab replay` draws.
func (r Record) WritePage(w io.Writer, wrongs []Wrong) error {
	s := r.Schedule
	p := page{
		Name:     fmt.Sprintf("%s-%d", strings.ReplaceAll(s.Store, " ", "-"), s.Seed),
		Group:    "Proof",
		Question: fmt.Sprintf("What do processes see while %s is broken?", s.Store),
		Answer:   "Nothing was wrong.",
		Seconds:  s.Lasts.Seconds(),
	}
	for _, lock := range s.Locks() {
		c := course{Title: lock, Ours: true, Outcome: p.Answer, Events: r.events(lock), Length: milliseconds(s.Lasts)}
		var texts []string
		for _, w := range wrongs {
			if w.Lock == lock {
				texts = append(texts, w.String())
			}
		}
		if c.Failed = len(texts) > 0; c.Failed {
			c.Outcome = strings.Join(texts, "; ")
		}
		if c.Failed || len(wrongs) == 0 {
			p.Variants = append(p.Variants, c)
		}
	}
	if len(wrongs) > 0 {
		p.Answer = fmt.Sprintf("%d things were wrong.", len(wrongs))
	}
	return json.NewEncoder(w).Encode([]page{p})
}

// events are all that concerns a lock, in the order in which it began.
func (r Record) events(lock string) (all []event) {
	for _, v := range r.Visits {
		if v.Lock == lock {
			all = append(all, v.events()...)
		}
	}
	for _, t := range r.Touches {
		if t.Lock == lock && t.Write {
			all = append(all, t.event())
		}
	}
	for _, b := range r.Breaks {
		if b.Lock == lock {
			text := fmt.Sprintf("the claim with token %d is broken", b.Token)
			all = append(all, event{Who: "somebody", Kind: "noted", Text: text, From: milliseconds(b.Call)})
		}
	}
	for _, c := range r.Counts {
		if c.Lock == lock {
			text := fmt.Sprintf("counts to %d: %s", c.Value, c.Fate)
			all = append(all, event{Who: name(c.Visitor), Kind: "noted", Text: text, From: milliseconds(c.Return)})
		}
	}
	for _, s := range r.Struck {
		who := string(OnStore)
		if s.Target != OnStore {
			who = name(s.Number)
		}
		text := fmt.Sprintf("%s: %s", s.Target, s.What)
		all = append(all, event{who, "fault", text, milliseconds(s.From), milliseconds(s.To)})
	}
	slices.SortStableFunc(all, func(a, b event) int { return cmp.Compare(a.From, b.From) })
	return all
}

// events are the visitor's wait, and its stay.
func (v Visit) events() []event {
	waits := event{name(v.Visitor), "waits", "", milliseconds(v.Call), milliseconds(v.Return)}
	if v.Outcome != history.Got {
		waits.Text = [...]string{history.Taken: "is refused", history.GaveUp: "gives up",
			history.Unknown: "is not answered"}[v.Outcome]
		return []event{waits}
	}
	kind := "holds"
	if v.Units < limit(v.Lock) {
		kind = "shares"
	}
	text := fmt.Sprintf("token %d", v.Token)
	if v.Foreign {
		text = "with a program of others"
	}
	return []event{waits, {name(v.Visitor), kind, text, milliseconds(v.Return), milliseconds(max(v.Seen, v.Return))}}
}

func (t Touch) event() event {
	e := event{Who: name(t.Visitor), Kind: "wrote", Text: fmt.Sprintf("%d, with token %d", t.Value, t.Token)}
	if e.From = milliseconds(t.At); t.Refused {
		e.Kind = "refused"
	}
	return e
}

func name(visitor int) string { return fmt.Sprintf("visitor %d", visitor) }

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
