package main

import (
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/lab/bench/cases"
	"github.com/holdfast-go/holdfast/lab/bench/report"
)

// A plan says how large each case is, and how often it is repeated.
type plan struct {
	cycles     int           // of one uncontended run
	goroutines int           // with names of their own
	window     time.Duration // for those
	herd       int           // goroutines that want one lock once each
	herdLimit  time.Duration
	waiting    []int // clients waiting at a hand-off
	line       cases.Line
	rounds     rounds
	only       *regexp.Regexp // the names of cases to run; nil for all
}

// rounds says how often each case is repeated. Requests are counted once: they do not vary.
type rounds struct{ uncontended, distinct, herd, handoff int }

// full takes less than four minutes on two cores.
var full = plan{
	cycles:     1000,
	goroutines: 64,
	window:     time.Second,
	herd:       1500,
	herdLimit:  15 * time.Second,
	waiting:    []int{1, 8, 64, 256},
	line:       cases.Line{Hold: 2 * time.Millisecond, Passes: 300, Limit: 1500 * time.Millisecond},
	rounds:     rounds{uncontended: 11, distinct: 7, herd: 3, handoff: 3},
}

// short runs everything once, in seconds. Its counts are right; its times say little.
var short = plan{
	cycles:     100,
	goroutines: 8,
	window:     100 * time.Millisecond,
	herd:       50,
	herdLimit:  5 * time.Second,
	waiting:    []int{1, 8},
	line:       cases.Line{Hold: time.Millisecond, Passes: 100, Limit: 600 * time.Millisecond},
	rounds:     rounds{uncontended: 1, distinct: 1, herd: 1, handoff: 1},
}

// A stage is a case and how often it is repeated.
type stage struct {
	cases.Case
	rounds int
}

func (p plan) stages() []stage {
	stages := []stage{
		{cases.Uncontended(p.cycles), p.rounds.uncontended},
		{cases.UncontendedCount(p.cycles), 1},
		{cases.Distinct(p.goroutines, p.window), p.rounds.distinct},
		{cases.Herd(p.herd, p.herdLimit), p.rounds.herd},
	}
	for _, waiting := range p.waiting {
		line := p.line
		line.Waiting = waiting
		stages = append(stages, stage{cases.HandoffIdle(line), p.rounds.handoff}, stage{cases.HandoffCount(line), 1})
	}
	return slices.DeleteFunc(stages, func(s stage) bool { return p.only != nil && !p.only.MatchString(s.Name) })
}

// targets are what Holdfast wants to reach in the full plan.
func (p plan) targets(r *report.Results) []report.Target {
	most, fewest := p.waiting[len(p.waiting)-1], p.waiting[0]
	herd, _ := r.Measure(cases.HerdSeconds)
	return []report.Target{
		report.Value(cases.UncontendedRequests, 2, "requests"),
		report.AtMostTimes(cases.UncontendedP50, 1.25, "raw"),
		report.AtMostTimes(cases.UncontendedMean, 1.25, "raw"),
		report.AtLeastTimes(cases.DistinctRate, 0.7, "raw"),
		report.AtLeastTimes(cases.DistinctRate, 1, "redsync"),
		report.AtLeastTimes(cases.DistinctRate, 1, "bsm/redislock"),
		report.AtLeastTimes(cases.DistinctRate, 1, "rueidislock"),
		report.AtMostTimesBestRival(herd, 0.1),
		report.Value(cases.HandoffRequestsKey(most), 2, "requests"),
		report.NoMoreThan(cases.HandoffIdleKey(most), cases.HandoffIdleKey(fewest), fmt.Sprintf("with %d waiting", fewest)),
	}
}
