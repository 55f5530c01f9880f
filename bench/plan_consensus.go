package main

import (
	"time"

	"github.com/holdfast-go/holdfast/bench/cases"
	"github.com/holdfast-go/holdfast/bench/contender"
	"github.com/holdfast-go/holdfast/bench/engine"
	"github.com/holdfast-go/holdfast/bench/report"
)

func onEtcd(s sizes) plan {
	return consensus(s, plan{
		name: "etcd", start: engine.Etcd, cast: contender.OnEtcd(), targets: etcdTargets,
		stages: func(p plan) []stage { return consensusStages(p, cases.HandoffWatches) },
	})
}

func onZooKeeper(s sizes) plan {
	s.names /= 10 // each makes nodes
	return consensus(s, plan{
		name: "zookeeper", start: engine.ZooKeeper, cast: contender.OnZooKeeper(), targets: zookeeperTargets,
		stages: func(p plan) []stage { return consensusStages(p) },
	})
}

// consensus plans what is measured where clients keep queues themselves: the line, and what passing a lock on takes.
func consensus(s sizes, p plan) plan {
	s.line.Hold = 5 * time.Millisecond
	p.sizes = s
	return p
}

// consensusStages are the cases. More measures may belong to the one that counts what clients send.
func consensusStages(p plan, counted ...func(cases.Line) cases.Measure) []stage {
	stages := lineStages(p, counted...)
	for _, waiting := range p.waiting {
		stages = append(stages, stage{cases.Drain(p.queue(waiting)), 1})
	}
	return append(stages, residue(p))
}

// lineStages are those for engines on which clients also send something while they wait.
func lineStages(p plan, counted ...func(cases.Line) cases.Measure) []stage {
	stages := unqueued(p)
	for _, waiting := range p.waiting {
		line := p.queue(waiting)
		count := cases.HandoffCount(line)
		for _, more := range counted {
			count.Measures = append(count.Measures, more(line))
		}
		stages = append(stages, stage{cases.HandoffIdle(line), p.rounds.handoff}, stage{count, 1})
	}
	return stages
}

// etcdTargets are what Holdfast wants to reach in the full plan. Etcd's own mutex waits for the server's next look at
// watches that begin in the past, which ours do not.
func etcdTargets(p plan, _ *report.Results) []report.Target {
	targets := []report.Target{
		report.Value(cases.UncontendedRequests, 2, "requests"),
		report.AtMostTimes(cases.HandoffIdleKey(1), 0.1, "concurrency.Mutex"),
	}
	return append(targets, beside(p, 2, "concurrency.Mutex")...)
}

// zookeeperTargets are what Holdfast wants to reach in the full plan. Uncontended, it creates a node, by which it
// learns that nobody else is in the queue, and deletes it.
func zookeeperTargets(p plan, _ *report.Results) []report.Target {
	uncontended := report.Value(cases.UncontendedRequests, 2, "requests")
	return append([]report.Target{uncontended}, beside(p, 3, "zk.Lock")...)
}

// beside are targets beside the rival: for a lock that nobody else wants, for many locks at once, and for what it takes
// to pass a lock on, whatever the number of those who wait.
func beside(p plan, requests float64, rival string) []report.Target {
	targets := []report.Target{
		report.AtMostTimes(cases.UncontendedMean, 1.05, rival),
		report.AtLeastTimes(cases.DistinctRateKey(many), 2, rival),
	}
	for _, waiting := range p.waiting {
		targets = append(targets,
			report.AtMostTimes(cases.HandoffIdleKey(waiting), 1, rival),
			report.Value(cases.DrainRequestsKey(waiting), requests, "requests"),
			report.AtMostTimes(cases.DrainRequestsKey(waiting), 1, rival))
	}
	return targets
}
