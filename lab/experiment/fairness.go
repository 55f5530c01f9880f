package experiment

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/lab/classic"
	"github.com/holdfast-go/holdfast/lab/testbed"
)

func fairness() Experiment {
	return Experiment{
		Name:     "fairness",
		Question: "How often do others overtake a client that waits?",
		Code:     "classic/unfair.go",
		Variants: []Variant{
			{Title: "Polling with growing pauses", Run: func(s *Trial) {
				l := new(classic.PollingLock)
				overtake(s, func() sync.Locker { return l })
			}},
			{Title: "Waking everybody", Run: func(s *Trial) {
				l := new(classic.BroadcastLock)
				overtake(s, func() sync.Locker { return l })
				s.Number("wake-ups for each hand-off", float64(l.Wakes)/turns, "")
			}},
			{Title: "Holdfast's queue", Ours: true, Run: func(s *Trial) {
				overtake(s, func() sync.Locker { return syncLocker(s, "mem:fairness", holdfast.WithLocalHandoff(0)) })
			}},
		},
		Answer: func(r Report) string {
			return fmt.Sprintf("A client that waited was overtaken up to %.0f times; with Holdfast at most %.0f times.",
				r.most(false, overtaken), r.most(true, overtaken))
		},
	}
}

const (
	rivals = 12
	turns  = 600
	turn   = 500 * time.Microsecond
)

// overtake lets clients have a lock in turns. Each joins again as soon as it has left; it fails if one that waited was
// overtaken more often than if all others had had five turns.
func overtake(s *Trial, client func() sync.Locker) {
	var had atomic.Int64 // turns
	shares := make([]float64, rivals)
	worst := make([]int64, rivals)
	first := client()
	first.Lock()
	var ready, all sync.WaitGroup
	for i := range rivals {
		l := client()
		ready.Add(1)
		all.Go(func() {
			ready.Done()
			for asked := had.Load(); ; asked = had.Load() {
				l.Lock()
				before := had.Load()
				worst[i] = max(worst[i], before-asked)
				if before < turns {
					had.Add(1)
					shares[i]++
					time.Sleep(turn) // it works
				}
				l.Unlock()
				if before >= turns {
					return
				}
			}
		})
	}
	ready.Wait()
	time.Sleep(20 * turn) // they come
	first.Unlock()
	all.Wait()
	reportFairness(s, shares, worst)
}

const overtaken = "overtaken at most"

func reportFairness(s *Trial, shares []float64, worst []int64) {
	most, starved := int64(0), 0
	names := make([]string, len(shares))
	for i := range shares {
		most = max(most, worst[i])
		names[i] = string(rune('A' + i))
		if shares[i] < turns/rivals/4 {
			starved++
		}
	}
	s.Number("fairness (Jain)", testbed.Jain(shares), "")
	s.Harm(overtaken, float64(most), "times", 5*rivals)
	s.Number("starved clients (under a quarter of their share)", float64(starved), "")
	s.Chart(Chart{Title: "Turns of each client", X: "client", Y: "turns", Bars: true, Points: names,
		Lines: []Series{{"turns", shares}}})
	s.Result(most > 5*rivals, "a client that waited was overtaken up to %d times, by %d others", most, rivals-1)
}
