package cases

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/holdfast-go/holdfast/bench/contender"
	"github.com/holdfast-go/holdfast/bench/engine"
)

// Keys of what Distinct measures.
const (
	DistinctRate = "distinct.rate"
	DistinctCPU  = "distinct.cpu"
)

// Distinct measures how many cycles a client does each second when many goroutines use it, each with a lock of its own.
func Distinct(goroutines int, window time.Duration) Case {
	title := fmt.Sprintf("%d goroutines, own names", goroutines)
	return Case{
		Name: title,
		Measures: []Measure{
			{Key: DistinctRate, Title: title, Unit: "cycles/s", More: true},
			{Key: DistinctCPU, Title: title + ", server CPU", Unit: "µs/cycle"},
		},
		Run: oneClient(func(ctx context.Context, e *engine.Engine, client contender.Client) (Sample, error) {
			return rate(ctx, e, client, goroutines, window)
		}),
	}
}

func rate(ctx context.Context, e *engine.Engine, client contender.Client, goroutines int,
	window time.Duration) (Sample, error) {
	own := make([]string, goroutines)
	for i := range own {
		own[i] = freshName()
	}
	if _, err := cyclesWithin(ctx, client, own, window/10); err != nil {
		return nil, err
	}
	var cycles int64
	start := time.Now()
	cpu, err := serverTime(e, func() (err error) {
		cycles, err = cyclesWithin(ctx, client, own, window)
		return err
	})
	return Sample{
		DistinctRate: float64(cycles) / time.Since(start).Seconds(),
		DistinctCPU:  cpu / float64(cycles),
	}, err
}

// stuck is for how long nothing may happen before a run is given up.
const stuck = 20 * time.Second

// cyclesWithin uses every name in a goroutine of its own, and returns how many cycles they did together.
func cyclesWithin(ctx context.Context, client contender.Client, names []string, window time.Duration) (int64, error) {
	var total atomic.Int64
	end := time.Now().Add(window)
	ctx, cancel := context.WithTimeout(ctx, window+stuck)
	defer cancel()
	group, ctx := errgroup.WithContext(ctx)
	for _, name := range names {
		group.Go(func() error {
			done := int64(0)
			defer func() { total.Add(done) }()
			for ; time.Now().Before(end); done++ {
				if err := cycle(ctx, client, name); err != nil {
					return err
				}
			}
			return nil
		})
	}
	err := group.Wait()
	return total.Load(), err
}
