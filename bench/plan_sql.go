package main

import (
	"time"

	"github.com/holdfast-go/holdfast/bench/cases"
	"github.com/holdfast-go/holdfast/bench/contender"
	"github.com/holdfast-go/holdfast/bench/engine"
	"github.com/holdfast-go/holdfast/bench/report"
)

func onMariaDB(s sizes) plan {
	return database(s, plan{name: "mariadb", start: engine.MariaDB, cast: contender.OnMariaDB()})
}

func onPostgres(s sizes) plan {
	return database(s, plan{name: "postgres", start: engine.Postgres, cast: contender.OnPostgres()})
}

// How many locks the goroutines of one client wait for, and how many for each of them.
const (
	locksWaitedFor = 8

	// What a client has besides, at most: for requests, and for renewals.
	forRequests, forRenewals = 4, 1
	waitingForEach           = 4
)

// database plans what is measured in databases. Each client has up to two connections, which bounds the line,
// and takes some time to open them.
func database(s sizes, p plan) plan {
	if s.most() > 128 {
		s.waiting = []int{1, 8, 64, 128}
	}
	s.names /= 10 // the first use of a name writes its row
	s.line.Hold, s.line.Turns = 5*time.Millisecond, true
	s.line.Limit *= 4
	s.rounds.handoff = 2*s.rounds.handoff - 1 // commits vary
	p.sizes = s
	p.stages = func(p plan) []stage {
		return append(lineStages(p),
			stage{cases.Paced(p.line.Passes, p.line.Hold), p.rounds.handoff},
			stage{cases.Connections(locksWaitedFor, waitingForEach), 1},
			residue(p))
	}
	p.targets = databaseTargets
	return p
}

// databaseTargets are what Holdfast wants to reach in the full plan: one statement each way, and one connection for
// each lock that is waited for beside those that a client has for requests and renewals.
func databaseTargets(p plan, _ *report.Results) []report.Target {
	targets := []report.Target{report.Value(cases.UncontendedRequests, 2, "statements")}
	for _, waiting := range p.waiting {
		targets = append(targets, gapTarget(waiting, p.fewest(), p.cast.Rivals[0].Name))
	}
	return append(targets, report.Value(cases.ConnectionsKey, forRequests+forRenewals+locksWaitedFor, "connections"))
}

// gapTarget is for the time in which nobody has the lock: as long as with the database's own lock, and what it takes to
// write down who has it, and to say so. The one is a transaction of the limit's, after a rest, as the lock is passed
// on after one; the other that one session wakes another, which the database's own lock does when it is passed on
// with nobody else around.
func gapTarget(waiting, fewest int, rival string) report.Target {
	key := cases.HandoffIdleKey(waiting)
	return report.Target{
		Key: key, Bound: 1, Want: "at most " + rival + ", a commit and a wake-up",
		Of: func(r *report.Results) float64 {
			commit := r.Value(cases.PacedGive, r.Cast.Limit) / 1000
			wakeUp := r.Value(cases.HandoffIdleKey(fewest), rival)
			return r.Value(key, r.Cast.Ours) / (r.Value(key, rival) + commit + wakeUp)
		},
	}
}
