package main

import (
	"time"

	"github.com/holdfast-go/holdfast/bench/cases"
	"github.com/holdfast-go/holdfast/bench/contender"
	"github.com/holdfast-go/holdfast/bench/engine"
	"github.com/holdfast-go/holdfast/bench/report"
)

// The contenders for one lock: processes, and goroutines in each. As many clients wait at the largest hand-off.
const (
	crowdClients = 4
	crowdEach    = 8
	crowd        = crowdClients * crowdEach
)

func onRedlock(s sizes) plan {
	if s.most() > crowd {
		s.waiting = []int{1, 8, crowd} // each client has connections to five servers
	}
	s.names /= 10                 // each goes to five servers
	s.goroutines = []int{8, many} // with more, cycles take longer than the TTL on a machine that does other work
	s.line.Hold = 5 * time.Millisecond
	return plan{name: "redlock", start: engine.Redlock, cast: contender.OnRedlock(), stages: redlockStages,
		targets: redlockTargets, sizes: s}
}

func redlockStages(p plan) []stage {
	stages := append(unqueued(p), stage{cases.Contended(crowdClients, crowdEach, 3*p.window), p.rounds.handoff})
	for _, waiting := range p.waiting {
		line := p.queue(waiting)
		stages = append(stages, stage{cases.HandoffIdle(line), p.rounds.handoff}, stage{cases.HandoffCount(line), 1})
	}
	return append(stages, residue(p))
}

// redlockTargets are what Holdfast wants to reach in the full plan. Uncontended, it sends two requests to each
// server, and looks now and then who waits.
func redlockTargets(p plan, _ *report.Results) []report.Target {
	uncontended := report.Value(cases.UncontendedRequests, 11, "requests")
	uncontended.Count = false // it looks by the clock
	targets := []report.Target{
		uncontended,
		report.AtLeastTimes(cases.ContendedRate, 2, "redsync"),
	}
	for _, waiting := range p.waiting {
		targets = append(targets,
			report.Value(cases.HandoffRequestsKey(waiting), 20, "requests"),
			report.AtMostTimes(cases.HandoffIdleKey(waiting), 1, "redsync"))
	}
	return targets
}
