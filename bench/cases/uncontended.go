package cases

import (
	"context"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/bench/contender"
	"github.com/holdfast-go/holdfast/bench/engine"
	"github.com/holdfast-go/holdfast/bench/wire"
)

// Keys of what the uncontended cases measure.
const (
	uncontended         = "uncontended"
	UncontendedP50      = uncontended + cycleP50
	UncontendedMean     = uncontended + cycleMean
	UncontendedRequests = uncontended + ".requests"
)

// warmUp is how many cycles a client does before it is measured: connections, scripts and caches.
const warmUp = 100

// Uncontended measures how long it takes to acquire and release a lock that nobody else wants.
func Uncontended(cycles int) Case {
	return oneByOne(uncontended, "uncontended cycle", 1, cycles, func() func() string {
		name := freshName()
		return func() string { return name }
	})
}

// Fresh measures that with a name for each cycle that was not used before and is not used again.
func Fresh(cycles int) Case {
	return oneByOne("fresh", "a new name for each cycle", 1, cycles, func() func() string { return freshName })
}

// Alternating measures that with two clients that use one name in turns and never wait for each other.
func Alternating(cycles int) Case {
	return oneByOne("alternating", "two clients in turns", 2, cycles, func() func() string {
		name := freshName()
		return func() string { return name }
	})
}

// oneByOne measures cycles of clients in turns, one cycle after the other, with the names that each run has.
func oneByOne(key, title string, clients, cycles int, named func() func() string) Case {
	line := Line{Waiting: clients - 1}
	mean := Measure{Key: key + cycleMean, Title: title + ", mean", Unit: "µs"}
	return Case{
		Name:     title,
		Measures: slices.Insert(cycleMeasures(key, title), 2, mean),
		Run: func(ctx context.Context, e *engine.Engine, c contender.Contender) (sample Sample, err error) {
			err = line.withClients(ctx, c, e.Addr, func(clients []contender.Client) error {
				name := named()
				if _, err := timeCycles(ctx, clients, warmUp, name); err != nil {
					return err
				}
				sample, err = cycleSample(key, e, func() ([]float64, error) {
					return timeCycles(ctx, clients, cycles, name)
				})
				return err
			})
			return sample, err
		},
	}
}

// timeCycles returns how long each of so many cycles took.
func timeCycles(ctx context.Context, clients []contender.Client, cycles int, name func() string) ([]float64, error) {
	took := make([]float64, 0, cycles)
	for i := range cycles {
		start := time.Now()
		if err := cycle(ctx, clients[i%len(clients)], name()); err != nil {
			return nil, err
		}
		took = append(took, microseconds(time.Since(start)))
	}
	return took, nil
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
