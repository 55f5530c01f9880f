package experiment

import (
	"fmt"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/lab/classic"
	"github.com/holdfast-go/holdfast/lab/testbed"
)

func spinning() Experiment {
	return Experiment{
		Name:     "spinning",
		Question: "What does it cost to wait for a lock by trying all the time?",
		Code:     "classic/spin.go",
		Variants: []Variant{
			{Title: "Spin lock", Run: func(s *Trial) { judgeWaiting(s, new(classic.SpinLock)) }},
			{Title: "sync.Mutex", Right: true, Run: func(s *Trial) { judgeWaiting(s, new(sync.Mutex)) }},
			{Title: "Holdfast", Ours: true, Run: func(s *Trial) { judgeWaiting(s, syncLocker(s, "mem:spinning")) }},
		},
		Answer: func(r Report) string {
			return fmt.Sprintf("Waiting took %s of processor time; with Holdfast %s.",
				period(1000*r.most(false, processor)), period(1000*r.most(true, processor)))
		},
	}
}

const processor = "processor time"

// judgeWaiting compares what waiting for a lock costs with what it costs with a mutex. Both do the same work: almost
// none, for in its section each does nothing for five milliseconds.
func judgeWaiting(s *Trial, l sync.Locker) {
	base, _, ok := wait(s, new(sync.Mutex))
	used, shares, _ := wait(s, l)
	for range 2 { // the least of three counts: the runtime has work of its own at times
		again, _, _ := wait(s, l)
		used = min(used, again)
	}
	if !ok {
		s.Skip("this system does not tell how much processor time was used")
	}
	const tooMuch, unavoidable = 3, 10 * time.Millisecond
	limit := tooMuch * (base + unavoidable)
	s.Number("processor time with sync.Mutex", base.Seconds(), "s")
	s.Harm(processor, used.Seconds(), "s", limit.Seconds())
	s.Number("fairness (Jain)", testbed.Jain(shares), "")
	s.Result(used > limit, "waiting used %v of processor time, where a mutex used %v",
		used.Round(time.Millisecond), base.Round(time.Millisecond))
}

// wait lets goroutines stand in for a lock that is always taken, and returns the processor time that this took, and how
// often each had the lock.
func wait(s *Trial, l sync.Locker) (used time.Duration, shares []float64, ok bool) {
	const many = 8
	sections := s.crowd(200, 60)
	before, ok := processorTime()
	shares = make([]float64, many)
	var all sync.WaitGroup
	for i := range many {
		all.Go(func() {
			for done := false; !done; {
				l.Lock()
				if done = sections == 0; !done {
					sections--
					shares[i]++
					time.Sleep(5 * time.Millisecond) // what is done in the section is not of the processor
				}
				l.Unlock()
			}
		})
	}
	all.Wait()
	after, _ := processorTime()
	return after - before, shares, ok
}
