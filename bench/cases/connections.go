package cases

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/holdfast-go/holdfast/bench/contender"
	"github.com/holdfast-go/holdfast/bench/engine"
	"github.com/holdfast-go/holdfast/bench/wire"
)

// ConnectionsKey is the key of what Connections measures.
const ConnectionsKey = "waiting.connections"

// Connections counts the connections that are open while so many goroutines wait for each of so many locks. They
// share a client, where it can wait for more than one lock at a time.
func Connections(names, each int) Case {
	title := fmt.Sprintf("%d waiting for each of %d locks", each, names)
	return Case{
		Name:     title,
		Waits:    true,
		Measures: []Measure{{Key: ConnectionsKey, Title: title + ", connections", Unit: ""}},
		Run: func(ctx context.Context, e *engine.Engine, c contender.Contender) (sample Sample, err error) {
			err = withClient(ctx, c, e.Addr, func(holder contender.Client) error {
				return counted(e, c, func(counter *wire.Counter) error {
					open, err := countConnections(ctx, c, holder, counter, names, each)
					sample = Sample{ConnectionsKey: float64(open)}
					return err
				})
			})
			return sample, err
		},
	}
}

func countConnections(ctx context.Context, c contender.Contender, holder contender.Client, counter *wire.Counter,
	names, each int) (open int, err error) {
	ctx, leave := context.WithTimeout(ctx, stuck)
	defer leave()
	locks, held, err := lockAll(ctx, holder, names)
	if err != nil {
		return 0, err
	}
	clients, err := openAll(ctx, c, counter.Addr(), clientsFor(c, names*each))
	if err != nil {
		return 0, errors.Join(err, closeAll(clients))
	}
	group, standing := errgroup.WithContext(ctx)
	for i := range names * each {
		group.Go(func() error { return cycle(standing, clients[i%len(clients)], locks[i%names]) })
	}
	awaitSilence(ctx, counter)
	open = counter.Connected()
	for _, h := range held {
		err = errors.Join(err, h.Unlock(ctx))
	}
	return open, errors.Join(err, group.Wait(), closeAll(clients))
}

// lockAll takes so many locks.
func lockAll(ctx context.Context, client contender.Client, n int) (names []string, held []contender.Held, err error) {
	for range n {
		name := freshName()
		h, err := client.Lock(ctx, name)
		if err != nil {
			return names, held, err
		}
		names, held = append(names, name), append(held, h)
	}
	return names, held, nil
}

// clientsFor is how many clients it takes to wait so often at a time.
func clientsFor(c contender.Contender, waiting int) int {
	if c.Alone {
		return waiting
	}
	return 1
}
