package experiment

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/lab/classic"
)

func semaphorePV() Experiment {
	const permits = 3
	return Experiment{
		Name:     "semaphore",
		Question: "How many are inside when a semaphore has three permits?",
		Code:     "classic/semaphore.go",
		Variants: []Variant{
			{Title: "P in two steps", Run: func(s *Trial) {
				sem := classic.NewTwoStepSemaphore(permits)
				crowdInside(s, permits, sem.P, sem.V)
			}},
			{Title: "P in one step", Right: true, Run: func(s *Trial) {
				sem := make(chan struct{}, permits)
				crowdInside(s, permits, func() { sem <- struct{}{} }, func() { <-sem })
			}},
			{Title: "Holdfast", Ours: true, Run: func(s *Trial) {
				sem := s.Client("mem:semaphore").Semaphore("permits", permits)
				leases := make(chan *holdfast.Lease, permits) // one permit is as good as another
				crowdInside(s, permits, func() {
					lease, err := sem.Acquire(s.Context(), 1)
					if err != nil {
						panic(err)
					}
					leases <- lease
				}, func() { _ = (<-leases).Release(s.Context()) })
			}},
		},
		Answer: func(r Report) string {
			return fmt.Sprintf("With %d permits %.0f were inside at once; with Holdfast %.0f.", permits,
				r.most(false, mostInside), r.most(true, mostInside))
		},
	}
}

const mostInside = "most inside at once"

// crowdInside lets many in and out, and fails if more were inside at once than there are permits.
func crowdInside(s *Trial, permits int64, p, v func()) {
	var inside, most atomic.Int64
	var all sync.WaitGroup
	for range s.crowd(500, 200) {
		all.Go(func() {
			p()
			n := inside.Add(1)
			for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
			}
			runtime.Gosched()
			inside.Add(-1)
			v()
		})
	}
	all.Wait()
	s.Harm(mostInside, float64(most.Load()), "", float64(permits))
	s.Result(most.Load() > permits, "up to %d were inside, with %d permits", most.Load(), permits)
}
