package cases

import (
	"context"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/bench/contender"
	"github.com/holdfast-go/holdfast/bench/engine"
	"github.com/holdfast-go/holdfast/bench/stats"
)

// Keys of what Paced measures.
const (
	PacedTake = "paced.take"
	PacedGive = "paced.give"
)

// Paced measures what it takes to acquire and to release a lock that nobody else wants, each after a pause in which the
// machine rests. That is how it is where locks are held for a while: caches are cold, and processors sleep.
func Paced(cycles int, rest time.Duration) Case {
	title := fmt.Sprintf("after %v of rest", rest)
	return Case{
		Name: "uncontended, " + title,
		Measures: []Measure{
			{Key: PacedTake, Title: title + ", acquire", Unit: "µs"},
			{Key: PacedTake + cycleP99, Title: title + ", acquire, p99", Unit: "µs"},
			{Key: PacedGive, Title: title + ", release", Unit: "µs"},
			{Key: PacedGive + cycleP99, Title: title + ", release, p99", Unit: "µs"},
		},
		Run: oneClient(func(ctx context.Context, e *engine.Engine, client contender.Client) (Sample, error) {
			return timeSteps(ctx, client, cycles, rest)
		}),
	}
}

func timeSteps(ctx context.Context, client contender.Client, cycles int, rest time.Duration) (Sample, error) {
	name := freshName()
	if err := repeat(warmUp, func() error { return cycle(ctx, client, name) }); err != nil {
		return nil, err
	}
	var take, give []float64
	err := repeat(cycles, func() error {
		pause(ctx, rest)
		began := time.Now()
		held, err := client.Lock(ctx, name)
		if err != nil {
			return err
		}
		take = append(take, microseconds(time.Since(began)))
		pause(ctx, rest)
		began = time.Now()
		err = held.Unlock(context.WithoutCancel(ctx))
		give = append(give, microseconds(time.Since(began)))
		return err
	})
	return Sample{
		PacedTake:            stats.Mean(take),
		PacedTake + cycleP99: stats.Quantile(take, 0.99),
		PacedGive:            stats.Mean(give),
		PacedGive + cycleP99: stats.Quantile(give, 0.99),
	}, err
}
