package cases

import (
	"context"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/bench/contender"
	"github.com/holdfast-go/holdfast/bench/engine"
	"github.com/holdfast-go/holdfast/bench/stats"
	"github.com/holdfast-go/holdfast/bench/wire"
)

// Keys of what is measured about a line with so many waiting.
func HandoffIdleKey(waiting int) string     { return fmt.Sprintf("handoff.%d.idle", waiting) }
func HandoffRequestsKey(waiting int) string { return fmt.Sprintf("handoff.%d.requests", waiting) }
func HandoffUpkeepKey(waiting int) string   { return fmt.Sprintf("handoff.%d.upkeep", waiting) }
func handoffWatchesKey(waiting int) string  { return fmt.Sprintf("handoff.%d.watches", waiting) }

// HandoffIdle measures for how long nobody holds the lock when it passes from one client to another: from the call that
// releases it to the next holder running.
func HandoffIdle(l Line) Case {
	key, tail := HandoffIdleKey(l.Waiting), fmt.Sprintf("handoff.%d.p99", l.Waiting)
	title := fmt.Sprintf("hand-off, %d waiting", l.Waiting)
	return Case{
		Name:  title,
		Waits: true,
		Measures: []Measure{
			{Key: key, Title: title + ", idle", Unit: "ms"},
			{Key: tail, Title: title + ", idle, p99", Unit: "ms"},
		},
		Run: func(ctx context.Context, e *engine.Engine, c contender.Contender) (sample Sample, err error) {
			err = l.run(ctx, c, e.Addr, func(ctx context.Context, b *baton) error {
				idle, err := l.follow(ctx, b)
				took := inMilliseconds(idle)
				sample = Sample{key: stats.Mean(took), tail: stats.Quantile(took, 0.99)}
				return err
			})
			return sample, err
		},
	}
}

// HandoffCount counts what the clients send for each time that the lock is acquired, held and released. What keeps
// claims and connections alive is counted apart: it grows with time and with the number of clients, not with
// hand-offs.
func HandoffCount(l Line) Case {
	requests, upkeep := HandoffRequestsKey(l.Waiting), HandoffUpkeepKey(l.Waiting)
	watches := handoffWatchesKey(l.Waiting)
	title := fmt.Sprintf("hand-off, %d waiting", l.Waiting)
	return Case{
		Name:  title + ", counted",
		Waits: true,
		Measures: []Measure{
			{Key: requests, Title: title + ", requests", Unit: "per cycle"},
			{Key: upkeep, Title: title + ", renewals and pings", Unit: "per cycle"},
		},
		Run: func(ctx context.Context, e *engine.Engine, c contender.Contender) (sample Sample, err error) {
			err = counted(e, c, func(counter *wire.Counter) error {
				return l.run(ctx, c, counter.Addr(), func(ctx context.Context, b *baton) error {
					before := counter.Count()
					idle, err := l.follow(ctx, b)
					sent, passes := counter.Count().Sub(before), float64(len(idle))
					sample = Sample{
						requests: float64(sent.Requests) / passes,
						upkeep:   float64(sent.Upkeep) / passes,
						watches:  float64(sent.Watches) / passes,
					}
					return err
				})
			})
			return sample, err
		},
	}
}

// HandoffWatches is what HandoffCount measures besides on engines where watches are no requests.
func HandoffWatches(l Line) Measure {
	return Measure{
		Key:   handoffWatchesKey(l.Waiting),
		Title: fmt.Sprintf("hand-off, %d waiting, watches begun and ended", l.Waiting),
		Unit:  "per cycle",
	}
}

// follow returns for how long nobody had the lock at each of the line's hand-offs.
func (l Line) follow(ctx context.Context, b *baton) ([]time.Duration, error) {
	limited, cancel := context.WithTimeout(ctx, l.Limit)
	defer cancel()
	idle := b.follow(limited, l.Passes)
	if len(idle) == 0 {
		return nil, fmt.Errorf("one client held the lock for %v", l.Limit)
	}
	return idle, ctx.Err()
}

func inMilliseconds(durations []time.Duration) []float64 {
	values := make([]float64, len(durations))
	for i, d := range durations {
		values[i] = float64(d) / float64(time.Millisecond)
	}
	return values
}
