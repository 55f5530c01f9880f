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

// Residue measures what is left on the server by names that are used once: at once, and after a rest in which the
// server and the client may tidy up.
func Residue(names, goroutines int, rest time.Duration) Case {
	title := fmt.Sprintf("%d names once each", names)
	return Case{
		Name: title,
		Size: true,
		Measures: []Measure{
			{Key: "residue.rate", Title: title, Unit: "cycles/s", More: true},
			{Key: "residue.now", Title: title + ", left at once", Unit: "bytes/name"},
			{Key: "residue.later", Title: fmt.Sprintf("%s, left after %v", title, rest), Unit: "bytes/name"},
		},
		Run: oneClient(func(ctx context.Context, e *engine.Engine, client contender.Client) (Sample, error) {
			if err := useOnce(ctx, client, warmUp, goroutines); err != nil {
				return nil, err
			}
			before := e.Size()
			start := time.Now()
			if err := useOnce(ctx, client, names, goroutines); err != nil {
				return nil, err
			}
			took := time.Since(start)
			left := func() float64 { return float64(max(0, e.Size()-before)) / float64(names) }
			now := left()
			later := now
			for start := time.Now(); later > 1 && time.Since(start) < rest; later = left() {
				pause(ctx, min(rest, time.Second))
			}
			return Sample{
				"residue.rate":  float64(names) / took.Seconds(),
				"residue.now":   now,
				"residue.later": later,
			}, ctx.Err()
		}),
	}
}

// useOnce has goroutines take locks whose names nobody uses again.
func useOnce(ctx context.Context, client contender.Client, names, goroutines int) error {
	var begun atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for range goroutines {
		group.Go(func() error {
			for begun.Add(1) <= int64(names) {
				if err := cycle(ctx, client, freshName()); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}
