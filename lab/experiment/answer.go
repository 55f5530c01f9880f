package experiment

import (
	"fmt"

	"github.com/holdfast-go/holdfast/lab/recording"
)

// Answers are made of what was measured, of the classics that fail on one side and of Holdfast on the other.

// most is the greatest measurement of that name, of Holdfast's variants or of classics that fail.
func (r Report) most(ours bool, name string) (most float64) {
	for _, a := range r.side(ours) {
		for _, n := range a.Numbers {
			if n.Name == name {
				most = max(most, n.Value)
			}
		}
	}
	return most
}

// side are Holdfast's variants, or the classics that fail.
func (r Report) side(ours bool) (list []Record) {
	for _, a := range r.Variants {
		if a.Ours == ours && !a.Right {
			list = append(list, a)
		}
	}
	return list
}

// count is how many events of a kind there are on a side.
func (r Report) count(ours bool, k recording.Kind) (n int) {
	for _, a := range r.side(ours) {
		n += a.Count(k)
	}
	return n
}

// overlap is for how long, in milliseconds, two believed to hold the lock on a side.
func (r Report) overlap(ours bool) (most float64) {
	for _, a := range r.side(ours) {
		most = max(most, a.Overlap)
	}
	return most
}

// none is a number as people say it.
func none(n float64) string {
	if n == 0 {
		return "none"
	}
	return fmt.Sprintf("%.0f", n)
}

// period is a time of so many milliseconds as people say it.
func period(ms float64) string {
	switch {
	case ms < 10:
		return fmt.Sprintf("%.2g ms", ms)
	case ms < 1000:
		return fmt.Sprintf("%.0f ms", ms)
	case ms >= 100_000:
		return fmt.Sprintf("%.0f s", ms/1000)
	}
	return fmt.Sprintf("%.1f s", ms/1000)
}

// togetherOrNot is for experiments whose failure is that two believe to hold the lock.
func togetherOrNot(r Report) string {
	ours := "never"
	if t := r.overlap(true); t > 0 {
		ours = "for " + period(t)
	}
	return fmt.Sprintf("Two clients believed that they held the lock, for %s; with Holdfast %s.",
		period(r.overlap(false)), ours)
}

// lateWrites is for those whose failure is a write that comes too late.
func lateWrites(r Report) string {
	writes := func(n int) string {
		if n == 1 {
			return "1 late write"
		}
		return fmt.Sprintf("%d late writes", n)
	}
	return fmt.Sprintf("%s corrupted the account; with Holdfast %s did, and %s was refused.",
		writes(r.count(false, recording.Corrupted)), none(float64(r.count(true, recording.Corrupted))),
		writes(r.count(true, recording.Refused)))
}

const (
	stillToWait = "still to wait after the crash"
	waitedAfter = "waited after the crash"
)

// afterCrash is for those whose failure is that nobody gets the lock of a holder that has crashed.
func afterCrash(r Report) string {
	long := "for ever"
	if s := r.most(false, stillToWait); s > 0 {
		long = period(1000*s) + " more"
	}
	return fmt.Sprintf("After a crash everybody waits %s; with Holdfast the next client had the lock %s later.", long,
		period(1000*r.most(true, waitedAfter)))
}

// eventsForRelease is for those whose failure is that all are woken.
func eventsForRelease(r Report) string {
	last := func(ours bool) (waiting string, events float64) {
		for _, a := range r.side(ours) {
			for _, c := range a.Charts {
				n := len(c.Points) - 1
				waiting, events = c.Points[n], c.Lines[0].Values[n]
			}
		}
		return waiting, events
	}
	waiting, classic := last(false)
	_, ours := last(true)
	return fmt.Sprintf("With %s waiting, one release sent %.0f events; with Holdfast %.0f.", waiting, classic, ours)
}
