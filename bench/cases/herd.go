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

// HerdSeconds is the key of what Herd measures.
const HerdSeconds = "herd.seconds"

// Herd measures how long it takes until each of many goroutines of one client had the same lock once. They hold it for
// no time. A contender that is not done within the limit counts as if it had gone on at the pace it had.
func Herd(goroutines int, limit time.Duration) Case {
	title := fmt.Sprintf("%d goroutines, one lock once each", goroutines)
	return Case{
		Name:     title,
		Waits:    true,
		Measures: []Measure{{Key: HerdSeconds, Title: title, Unit: "s"}},
		Run: oneClient(func(ctx context.Context, e *engine.Engine, client contender.Client) (Sample, error) {
			return timeHerd(ctx, client, goroutines, limit)
		}),
	}
}

func timeHerd(ctx context.Context, client contender.Client, goroutines int, limit time.Duration) (Sample, error) {
	name := freshName()
	if err := repeat(warmUp, func() error { return cycle(ctx, client, name) }); err != nil {
		return nil, err
	}
	start := time.Now()
	served, err := serveHerd(ctx, client, name, goroutines, limit)
	took := time.Since(start)
	if err == nil && served == 0 {
		err = fmt.Errorf("nobody had the lock within %v", limit)
	}
	return Sample{HerdSeconds: took.Seconds() * float64(goroutines) / float64(served)}, err
}

// serveHerd returns how many goroutines had the lock within the limit.
func serveHerd(ctx context.Context, client contender.Client, name string, goroutines int, limit time.Duration) (int64,
	error) {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var served atomic.Int64
	start := make(chan struct{})
	group, first := errgroup.WithContext(limited)
	for range goroutines {
		group.Go(func() error {
			<-start
			if err := cycle(first, client, name); err != nil {
				return err
			}
			served.Add(1)
			return nil
		})
	}
	close(start)
	err := group.Wait()
	if limited.Err() != nil {
		err = ctx.Err() // being too slow is a result, no failure
	}
	return served.Load(), err
}
