package cases

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/holdfast-go/holdfast/bench/contender"
	"github.com/holdfast-go/holdfast/bench/engine"
)

// ContendedRate is the key of what Contended measures.
const ContendedRate = "contended.rate"

// Contended measures how often a lock is acquired each second that so many goroutines of so many clients, each with
// connections of its own, want all the time. They hold it for no time, and try again at once.
func Contended(clients, each int, window time.Duration) Case {
	title := fmt.Sprintf("%d contenders in %d clients, one lock", clients*each, clients)
	line := Line{Waiting: clients - 1}
	return Case{
		Name:     title,
		Waits:    true,
		Measures: []Measure{{Key: ContendedRate, Title: title, Unit: "acquisitions/s", More: true}},
		Run: func(ctx context.Context, e *engine.Engine, c contender.Contender) (sample Sample, err error) {
			err = line.withClients(ctx, c, e.Addr, func(clients []contender.Client) error {
				acquired, took, err := contend(ctx, clients, each, window)
				sample = Sample{ContendedRate: float64(acquired) / took.Seconds()}
				return err
			})
			return sample, err
		},
	}
}

// contend has goroutines take the lock again and again, and returns how often they had it.
func contend(ctx context.Context, clients []contender.Client, each int, window time.Duration) (int64, time.Duration,
	error) {
	var acquired atomic.Int64
	var b baton
	name := freshName()
	start := time.Now()
	limited, cancel := context.WithTimeout(ctx, window)
	defer cancel()
	group, contending := errgroup.WithContext(limited)
	for i := range each * len(clients) {
		client := clients[i%len(clients)]
		group.Go(func() error {
			for contending.Err() == nil {
				if _, err := (Line{}).takeTurn(contending, client, name, &b); err != nil {
					return err
				}
				acquired.Add(1)
			}
			return nil
		})
	}
	err := group.Wait()
	if limited.Err() != nil && !errors.Is(err, errTwoHolders) {
		err = ctx.Err() // they were told to stop
	}
	return acquired.Load(), min(time.Since(start), window), err
}
