package cases

import (
	"context"
	"fmt"

	"github.com/holdfast-go/holdfast/bench/contender"
	"github.com/holdfast-go/holdfast/bench/engine"
	"github.com/holdfast-go/holdfast/bench/stats"
)

// UsedLong measures whether a cycle takes longer the more there were on its name: the first tenth of many beside the
// last.
func UsedLong(cycles int) Case {
	tenth := cycles / 10
	first := fmt.Sprintf("first %d cycles on a name", tenth)
	last := fmt.Sprintf("last %d of %d cycles on a name", tenth, cycles)
	return Case{
		Name: fmt.Sprintf("%d cycles on a name", cycles),
		Measures: []Measure{
			{Key: "first" + cycleP50, Title: first + ", p50", Unit: "µs"},
			{Key: "first" + cycleP99, Title: first + ", p99", Unit: "µs"},
			{Key: "last" + cycleP50, Title: last + ", p50", Unit: "µs"},
			{Key: "last" + cycleP99, Title: last + ", p99", Unit: "µs"},
		},
		Run: oneClient(func(ctx context.Context, _ *engine.Engine, client contender.Client) (Sample, error) {
			clients, name := []contender.Client{client}, freshName()
			if _, err := timeCycles(ctx, clients, warmUp, freshName); err != nil {
				return nil, err
			}
			took, err := timeCycles(ctx, clients, cycles, func() string { return name })
			if err != nil {
				return nil, err
			}
			return Sample{
				"first" + cycleP50: stats.Median(took[:tenth]),
				"first" + cycleP99: stats.Quantile(took[:tenth], 0.99),
				"last" + cycleP50:  stats.Median(took[cycles-tenth:]),
				"last" + cycleP99:  stats.Quantile(took[cycles-tenth:], 0.99),
			}, nil
		}),
	}
}
