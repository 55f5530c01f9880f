package cases

import (
	"context"
	"time"

	"github.com/holdfast-go/holdfast/bench/contender"
	"github.com/holdfast-go/holdfast/bench/engine"
	"github.com/holdfast-go/holdfast/bench/stats"
	"github.com/holdfast-go/holdfast/bench/wire"
)

// Keys of what the uncontended cases measure.
const (
	UncontendedP50      = "uncontended.p50"
	UncontendedP99      = "uncontended.p99"
	UncontendedMean     = "uncontended.mean"
	UncontendedCPU      = "uncontended.cpu"
	UncontendedRequests = "uncontended.requests"
)

// warmUp is how many cycles a client does before it is measured: connections, scripts and caches.
const warmUp = 100

// Uncontended measures how long it takes to acquire and release a lock that nobody else wants.
func Uncontended(cycles int) Case {
	return Case{
		Name: "uncontended",
		Measures: []Measure{
			{Key: UncontendedP50, Title: "uncontended cycle, p50", Unit: "µs"},
			{Key: UncontendedP99, Title: "uncontended cycle, p99", Unit: "µs"},
			{Key: UncontendedMean, Title: "uncontended cycle, mean", Unit: "µs"},
			{Key: UncontendedCPU, Title: "uncontended, server CPU", Unit: "µs/cycle"},
		},
		Run: oneClient(func(ctx context.Context, e *engine.Engine, client contender.Client) (Sample, error) {
			return timeCycles(ctx, e, client, cycles)
		}),
	}
}

func timeCycles(ctx context.Context, e *engine.Engine, client contender.Client, cycles int) (Sample, error) {
	name := freshName()
	if err := repeat(warmUp, func() error { return cycle(ctx, client, name) }); err != nil {
		return nil, err
	}
	took := make([]float64, 0, cycles)
	cpu, err := serverTime(e, func() error {
		return repeat(cycles, func() error {
			start := time.Now()
			err := cycle(ctx, client, name)
			took = append(took, microseconds(time.Since(start)))
			return err
		})
	})
	return Sample{
		UncontendedP50:  stats.Median(took),
		UncontendedP99:  stats.Quantile(took, 0.99),
		UncontendedMean: stats.Mean(took),
		UncontendedCPU:  cpu / float64(cycles),
	}, err
}

// UncontendedCount counts what a client sends to acquire and release a lock that nobody else wants.
func UncontendedCount(cycles int) Case {
	return Case{
		Name:     "uncontended, counted",
		Measures: []Measure{{Key: UncontendedRequests, Title: "uncontended, requests", Unit: "per cycle"}},
		Run: func(ctx context.Context, e *engine.Engine, c contender.Contender) (sample Sample, err error) {
			err = counted(e, c, func(counter *wire.Counter) error {
				return withClient(ctx, c, counter.Addr(), func(client contender.Client) error {
					sample, err = countCycles(ctx, counter, client, cycles)
					return err
				})
			})
			return sample, err
		},
	}
}

func countCycles(ctx context.Context, counter *wire.Counter, client contender.Client, cycles int) (Sample, error) {
	name := freshName()
	once := func() error { return cycle(ctx, client, name) }
	if err := repeat(warmUp, once); err != nil {
		return nil, err
	}
	before := counter.Count()
	err := repeat(cycles, once)
	sent := counter.Count().Sub(before)
	return Sample{UncontendedRequests: float64(sent.Requests) / float64(cycles)}, err
}

func repeat(times int, fn func() error) error {
	for range times {
		if err := fn(); err != nil {
			return err
		}
	}
	return nil
}
