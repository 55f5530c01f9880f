package cases

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/holdfast-go/holdfast/bench/contender"
	"github.com/holdfast-go/holdfast/bench/engine"
	"github.com/holdfast-go/holdfast/bench/wire"
)

// DrainRequestsKey is the key of what Drain measures about a line of so many.
func DrainRequestsKey(waiting int) string { return fmt.Sprintf("drain.%d.requests", waiting) }

// Drain counts what the clients send while a lock goes through a line that nobody joins again: what it takes to pass a
// lock on, without what it takes to stand in line. It is for contenders that send nothing while they wait.
func Drain(l Line) Case {
	requests := DrainRequestsKey(l.Waiting)
	title := fmt.Sprintf("passing on, %d waiting", l.Waiting)
	return Case{
		Name:     title,
		Waits:    true,
		Measures: []Measure{{Key: requests, Title: title + ", requests", Unit: "per hand-off"}},
		Run: func(ctx context.Context, e *engine.Engine, c contender.Contender) (sample Sample, err error) {
			err = counted(e, c, func(counter *wire.Counter) error {
				return l.withClients(ctx, c, counter.Addr(), func(clients []contender.Client) error {
					sent, err := l.drain(ctx, clients, counter)
					passes := float64(l.Waiting)
					sample = Sample{requests: float64(sent.Requests) / passes}
					return err
				})
			})
			return sample, err
		},
	}
}

// drain has the first client take the lock and the others wait for it, and returns what they send from its release on
// until the last has it.
func (l Line) drain(ctx context.Context, clients []contender.Client, counter *wire.Counter) (sent wire.Count,
	err error) {
	name := freshName()
	first, err := clients[0].Lock(ctx, name)
	if err != nil {
		return sent, err
	}
	var b baton
	if err := b.take(); err != nil {
		return sent, err
	}
	ctx, leave := context.WithTimeout(ctx, stuck+time.Duration(l.Waiting)*l.Hold)
	defer leave()
	group, ctx := errgroup.WithContext(ctx)
	for _, client := range clients[1:] {
		group.Go(func() error {
			_, err := l.takeTurn(ctx, client, name, &b)
			return err
		})
	}
	before := awaitSilence(ctx, counter)
	b.pass()
	if err := first.Unlock(ctx); err != nil {
		return sent, err
	}
	if had := b.reach(ctx, l.Waiting); had < l.Waiting {
		return sent, fmt.Errorf("%d of %d got the lock: %w", had, l.Waiting, context.Cause(ctx))
	}
	sent = counter.Count().Sub(before)
	return sent, group.Wait()
}

// silence is how long nothing is sent by clients that stand in line.
const silence = 500 * time.Millisecond

// awaitSilence returns the count once no requests have come for a while.
func awaitSilence(ctx context.Context, counter *wire.Counter) wire.Count {
	for last := counter.Count(); ; {
		pause(ctx, silence)
		now := counter.Count()
		if sent := now.Sub(last); ctx.Err() != nil || sent.Requests+sent.Watches == 0 {
			return now
		}
		last = now
	}
}
