package report

import (
	"github.com/holdfast-go/holdfast/lab/recording"
)

// A slider is what one goes through a run with: moment by moment, from the one that decides, or from the middle.
type slider struct {
	Shown float64 // the moment that is shown first, in milliseconds
	Parts []part  // what is said of it
	Steps []step
}

// A part of what is said of a moment.
type part struct {
	Title, Name string
	Words       []word
}

// A step is what is said from a moment on. Its names are those of parts.
type step struct {
	At     float64 `json:"at"`
	Holds  []word  `json:"holds"`
	Waits  []word  `json:"waits"`
	Faults []word  `json:"faults"`
	Saw    []word  `json:"saw"`
	Now    []word  `json:"now"`
}

func newSlider(r recording.Run) (l slider) {
	for _, s := range r.Steps() {
		l.Steps = append(l.Steps, newStep(s))
	}
	shown := l.Steps[len(l.Steps)/2]
	if at, _, ok := r.Decisive(); ok {
		for _, s := range l.Steps {
			if s.At <= at.From {
				shown = s
			}
		}
	}
	l.Shown = shown.At
	l.Parts = []part{
		{"now", "now", shown.Now},
		{"believe they hold it", "holds", shown.Holds},
		{"waiting", "waits", shown.Waits},
		{"active faults", "faults", shown.Faults},
		{"the resource saw", "saw", shown.Saw},
	}
	return l
}

func newStep(s recording.Step) step {
	holds := string(recording.Holds)
	if s.Danger {
		holds = "together"
	}
	list := step{s.At, inClass(holds, s.Holds), inClass(string(recording.Waits), s.Waits),
		inClass(string(recording.Fault), s.Faults), []word{}, inClass("", s.Now)}
	if s.Danger {
		list.Holds = append(list.Holds, word{"harm", "✗ two at once"})
	}
	for _, w := range s.Saw {
		list.Saw = append(list.Saw, word{"word " + string(w.Kind), w.Who + ": " + kinds[w.Kind]})
	}
	return list
}

func inClass(class string, texts []string) []word {
	words := []word{}
	for _, text := range texts {
		w := word{"word " + class, text}
		if class == "" {
			w.Class = "said"
		}
		words = append(words, w)
	}
	return words
}
