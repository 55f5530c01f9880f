package cases

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/holdfast-go/holdfast/bench/contender"
	"github.com/holdfast-go/holdfast/bench/engine"
)

// DistinctRateKey is the key of how many cycles Distinct finds with so many goroutines.
func DistinctRateKey(goroutines int) string { return distinctKey(goroutines) + ".rate" }

func distinctKey(goroutines int) string { return fmt.Sprintf("distinct.%d", goroutines) }

// Distinct measures how many cycles a client does each second when many goroutines use it, each with a lock of its own.
func Distinct(goroutines int, window time.Duration) Case {
	title := fmt.Sprintf("%d goroutines, own names", goroutines)
	return ownNames(distinctKey(goroutines), title, 1, goroutines, window)
}

// Clients measures that with one goroutine in each of many clients, which have connections of their own.
func Clients(clients int, window time.Duration) Case {
	title := fmt.Sprintf("%d clients, own names", clients)
	return ownNames("clients", title, clients, clients, window)
}

func ownNames(key, title string, clients, goroutines int, window time.Duration) Case {
	rate := Measure{Key: key + ".rate", Title: title, Unit: "cycles/s", More: true}
	line := Line{Waiting: clients - 1}
	return Case{
		Name:     title,
		Measures: append([]Measure{rate}, cycleMeasures(key, title)...),
		Run: func(ctx context.Context, e *engine.Engine, c contender.Contender) (sample Sample, err error) {
			err = line.withClients(ctx, c, e.Addr, func(clients []contender.Client) error {
				own := freshNames(goroutines)
				if _, err := cyclesWithin(ctx, clients, own, window/10); err != nil {
					return err
				}
				start := time.Now()
				sample, err = cycleSample(key, e, func() ([]float64, error) {
					return cyclesWithin(ctx, clients, own, window)
				})
				if err == nil {
					sample[rate.Key] = sample[key+cycleCount] / time.Since(start).Seconds()
				}
				return err
			})
			return sample, err
		},
	}
}

// stuck is for how long nothing may happen before a run is given up.
const stuck = 20 * time.Second

// cyclesWithin uses every name in a goroutine of its own, by the clients in turns, and returns how long each cycle
// took.
func cyclesWithin(ctx context.Context, clients []contender.Client, names []string, window time.Duration) ([]float64,
	error) {
	var mu sync.Mutex
	var all [][]float64
	begin := time.Now()
	end := begin.Add(window)
	ctx, cancel := context.WithTimeout(ctx, window+stuck)
	defer cancel()
	group, ctx := errgroup.WithContext(ctx)
	for i, name := range names {
		group.Go(func() (err error) {
			var took []float64
			for last := begin; err == nil && last.Before(end); {
				err = cycle(ctx, clients[i%len(clients)], name)
				now := time.Now()
				took = append(took, microseconds(now.Sub(last)))
				last = now
			}
			mu.Lock()
			defer mu.Unlock()
			all = append(all, took)
			return err
		})
	}
	err := group.Wait()
	return slices.Concat(all...), err
}
