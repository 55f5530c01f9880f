package main

import (
	"context"
	"fmt"
	"io"
	"runtime"

	"github.com/holdfast-go/holdfast/bench/contender"
	"github.com/holdfast-go/holdfast/bench/engine"
	"github.com/holdfast-go/holdfast/bench/report"
)

// measure carries out the plan, and tells progress how it goes.
func (p plan) measure(ctx context.Context, e *engine.Engine, progress io.Writer) (*report.Report, error) {
	start := report.Begin()
	contenders := p.cast.All()
	results := &report.Results{Cast: namesOf(p.cast)}
	for _, s := range p.wanted() {
		results.Measures = append(results.Measures, s.Measures...)
		if err := s.run(ctx, e, contenders, results, progress); err != nil {
			return nil, err
		}
	}
	r := report.New(p.title(), report.Facts(e.Version, start), contenders, results, p.goals(results))
	r.Pin = p.pin.Name
	return r, nil
}

// goals are the targets, which are for servers and clients that run where the system lets them.
func (p plan) goals(r *report.Results) []report.Target {
	if p.pin != (engine.Pin{}) {
		return nil
	}
	return p.targets(p, r)
}

func namesOf(cast contender.Cast) report.Cast {
	parts := report.Cast{Limit: cast.Limit.Name, Ours: cast.Ours.Name}
	for _, rival := range cast.Rivals {
		parts.Rivals = append(parts.Rivals, rival.Name)
	}
	return parts
}

// run measures all contenders in turns, because whatever else runs on the machine should disturb all of them alike.
// Each round begins with another one.
func (s stage) run(ctx context.Context, e *engine.Engine, contenders []contender.Contender, r *report.Results,
	progress io.Writer) error {
	for round := range s.rounds {
		fmt.Fprintf(progress, "%s, round %d of %d\n", s.Name, round+1, s.rounds)
		for i := range contenders {
			c := contenders[(i+round)%len(contenders)]
			if s.Waits && !c.Waits {
				continue
			}
			runtime.GC() // nobody pays for what another left behind
			sample, err := s.Run(ctx, e, c)
			if err != nil {
				return fmt.Errorf("%s: %s: %w", s.Name, c.Name, err)
			}
			r.Add(c.Name, sample)
		}
	}
	return nil
}
