package experiment

import (
	"context"
	"fmt"
	"sync"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/lab/classic"
	"github.com/holdfast-go/holdfast/lab/recording"
)

func lostUpdates() Experiment {
	return Experiment{
		Name:     "lost-updates",
		Question: "What becomes of 1,000 additions that goroutines do at the same time?",
		Code:     "classic/counter.go",
		Variants: []Variant{
			{Title: "Appending to one slice", Run: func(s *Trial) { addTo(s, new(classic.PlainSlice)) }},
			{Title: "n++", Run: func(s *Trial) { addTo(s, new(classic.PlainCounter)) }},
			{Title: "Compare-and-swap", Right: true, Run: func(s *Trial) {
				c := new(classic.SwapCounter)
				addTo(s, c)
				s.Number("attempts in vain", float64(c.Retries.Load()), "")
			}},
			{Title: "Atomic add", Right: true, Run: func(s *Trial) { addTo(s, new(classic.AtomicCounter)) }},
			{Title: "Holdfast around n++", Ours: true, Run: func(s *Trial) {
				m := s.Client("mem:lost-updates").Mutex("counter")
				addTo(s, locked{s, m, new(classic.PlainCounter)})
			}},
		},
		Answer: func(r Report) string {
			return fmt.Sprintf("Of %.0f additions %s were lost; with Holdfast %s.", r.most(false, "additions"),
				none(r.most(false, "lost")), none(r.most(true, "lost")))
		},
	}
}

// addTo lets 1,000 goroutines add to a counter, and fails if some additions are lost.
func addTo(s *Trial, c classic.Counter) {
	const many = 1000
	var all sync.WaitGroup
	start := make(chan struct{})
	for range many {
		all.Go(func() {
			<-start
			c.Add()
		})
	}
	close(start)
	all.Wait()
	want := int64(many)
	s.Number("additions", float64(want), "")
	s.Harm("lost", float64(want-c.Value()), "", 0)
	s.Result(c.Value() != want, "%d of %d additions were lost", want-c.Value(), want)
}

// locked is a counter that Holdfast protects.
type locked struct {
	s *Trial
	m *holdfast.Mutex
	classic.Counter
}

func (l locked) Add() {
	err := l.m.Do(l.s.Context(), func(context.Context, *holdfast.Lease) error {
		l.Counter.Add()
		return nil
	})
	if err != nil {
		l.s.Mark("somebody", recording.Noted, "%v", err) // its addition is missing, which is seen
	}
}
