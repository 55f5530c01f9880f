package main

import (
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/bench/cases"
	"github.com/holdfast-go/holdfast/bench/contender"
	"github.com/holdfast-go/holdfast/bench/engine"
	"github.com/holdfast-go/holdfast/bench/report"
)

func onRedis(s sizes) plan {
	s.line.Hold = 2 * time.Millisecond
	return plan{name: "redis", start: engine.Redis, cast: contender.OnRedis(), stages: redisStages,
		targets: redisTargets, sizes: s}
}

func redisStages(p plan) []stage {
	stages := append(unqueued(p), stage{cases.Herd(p.herd, p.herdLimit), p.rounds.herd})
	for _, waiting := range p.waiting {
		line := p.queue(waiting)
		stages = append(stages, stage{cases.HandoffIdle(line), p.rounds.handoff}, stage{cases.HandoffCount(line), 1})
	}
	return append(stages, residue(p))
}

// redisTargets are what Holdfast wants to reach in the full plan.
func redisTargets(p plan, r *report.Results) []report.Target {
	herd, _ := r.Measure(cases.HerdSeconds)
	return []report.Target{
		report.Value(cases.UncontendedRequests, 2, "requests"),
		report.AtMostTimes(cases.UncontendedP50, 1.25, "raw"),
		report.AtMostTimes(cases.UncontendedMean, 1.25, "raw"),
		report.AtLeastTimes(cases.DistinctRateKey(many), 0.7, "raw"),
		report.AtLeastTimes(cases.DistinctRateKey(many), 1, "redsync"),
		report.AtLeastTimes(cases.DistinctRateKey(many), 1, "bsm/redislock"),
		report.AtLeastTimes(cases.DistinctRateKey(many), 1, "rueidislock"),
		report.AtMostTimesBestRival(herd, 0.1),
		report.Value(cases.HandoffRequestsKey(p.most()), 2, "requests"),
		report.NoMoreThan(cases.HandoffIdleKey(p.most()), cases.HandoffIdleKey(p.fewest()),
			fmt.Sprintf("with %d waiting", p.fewest())),
	}
}
