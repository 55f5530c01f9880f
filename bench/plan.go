package main

import (
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/bench/cases"
	"github.com/holdfast-go/holdfast/bench/contender"
	"github.com/holdfast-go/holdfast/bench/engine"
	"github.com/holdfast-go/holdfast/bench/report"
)

// A plan says what is measured on one engine, how large each case is, and how often it is repeated.
type plan struct {
	name    string // of the engine
	start   func(testing.TB) *engine.Engine
	cast    contender.Cast
	stages  func(plan) []stage
	targets func(plan, *report.Results) []report.Target

	sizes
	only *regexp.Regexp // the names of cases to run; nil for all
	pin  engine.Pin
}

// title is what its results are stored as: pinned ones stand beside the others.
func (p plan) title() string { return p.name + p.pin.Suffix() }

// sizes say how large each case is.
type sizes struct {
	cycles     int           // of one uncontended run
	long       int           // cycles on one name
	goroutines []int         // with names of their own
	clients    int           // with names of their own
	window     time.Duration // for those
	names      int           // that are used once
	rest       time.Duration // after that
	herd       int           // goroutines that want one lock once each
	herdLimit  time.Duration
	waiting    []int // clients waiting at a hand-off
	line       cases.Line
	rounds     rounds
}

// many is how many goroutines have names of their own in the targets.
const many = 64

// rounds says how often each case is repeated. Requests are counted once: they do not vary.
type rounds struct{ uncontended, distinct, long, herd, handoff int }

// full takes about an hour on two cores, on all engines together.
var full = sizes{
	cycles:     1000,
	long:       10000,
	goroutines: []int{8, many, 1500},
	clients:    32,
	window:     time.Second,
	names:      1_000_000,
	rest:       70 * time.Second, // longer than any TTL
	herd:       1500,
	herdLimit:  15 * time.Second,
	waiting:    []int{1, 8, 64, 256},
	line:       cases.Line{Passes: 300, Limit: 1500 * time.Millisecond},
	rounds:     rounds{uncontended: 11, distinct: 7, long: 3, herd: 3, handoff: 3},
}

// short runs everything once, in seconds. Its counts are right; its times say little.
var short = sizes{
	cycles:     100,
	long:       200,
	goroutines: []int{8, many},
	clients:    8,
	window:     100 * time.Millisecond,
	names:      500,
	rest:       100 * time.Millisecond,
	herd:       50,
	herdLimit:  5 * time.Second,
	waiting:    []int{1, 8},
	line:       cases.Line{Passes: 100, Limit: 600 * time.Millisecond},
	rounds:     rounds{uncontended: 1, distinct: 1, long: 1, herd: 1, handoff: 1},
}

// plans are what can be measured, in the order of the report.
func plans(s sizes) []plan {
	return []plan{onRedis(s), onRedlock(s), onEtcd(s), onZooKeeper(s), onMariaDB(s), onPostgres(s)}
}

// A stage is a case and how often it is repeated.
type stage struct {
	cases.Case
	rounds int
}

// wanted are the stages to run. Pinned are those that say how fast a client is of which nobody waits for another.
func (p plan) wanted() []stage {
	return slices.DeleteFunc(p.stages(p), func(s stage) bool {
		return p.only != nil && !p.only.MatchString(s.Name) || p.pin != (engine.Pin{}) && (s.Waits || s.Size)
	})
}

// unqueued are the stages in which nobody waits.
func unqueued(p plan) []stage {
	stages := []stage{
		{cases.Uncontended(p.cycles), p.rounds.uncontended},
		{cases.UncontendedCount(p.cycles), 1},
		{cases.Fresh(p.cycles), p.rounds.distinct},
		{cases.Alternating(p.cycles), p.rounds.distinct},
		{cases.UsedLong(p.long), p.rounds.long},
	}
	for _, n := range p.goroutines {
		stages = append(stages, stage{cases.Distinct(n, p.window), p.rounds.distinct})
	}
	return append(stages, stage{cases.Clients(p.clients, p.window), p.rounds.distinct})
}

// residue is the stage that shows what names leave behind. It comes last, because that is in the way of others.
func residue(p plan) stage { return stage{cases.Residue(p.names, many, p.rest), 1} }

// queue returns the line in which so many wait.
func (s sizes) queue(waiting int) cases.Line {
	line := s.line
	line.Waiting = waiting
	return line
}

func (s sizes) fewest() int { return s.waiting[0] }
func (s sizes) most() int   { return s.waiting[len(s.waiting)-1] }
