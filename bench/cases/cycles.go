package cases

import (
	"github.com/holdfast-go/holdfast/bench/engine"
	"github.com/holdfast-go/holdfast/bench/stats"
)

// These are added to the key of a case with many cycles, one for each number that is found about them.
const (
	cycleP50   = ".p50"
	cycleP99   = ".p99"
	cycleMean  = ".mean"
	cycleCPU   = ".cpu"
	cycleCount = ".count" // for the case itself
)

// cycleMeasures are those of a case with many cycles.
func cycleMeasures(key, title string) []Measure {
	return []Measure{
		{Key: key + cycleP50, Title: title + ", p50", Unit: "µs"},
		{Key: key + cycleP99, Title: title + ", p99", Unit: "µs"},
		{Key: key + cycleCPU, Title: title + ", server CPU", Unit: "µs/cycle"},
	}
}

// cycleSample sums up cycles, whose times fn returns, and what they took the server.
func cycleSample(key string, e *engine.Engine, fn func() ([]float64, error)) (Sample, error) {
	var took []float64
	cpu, err := serverTime(e, func() (err error) {
		took, err = fn()
		return err
	})
	cycles := float64(len(took))
	return Sample{
		key + cycleP50:   stats.Median(took),
		key + cycleP99:   stats.Quantile(took, 0.99),
		key + cycleMean:  stats.Mean(took),
		key + cycleCPU:   cpu / cycles,
		key + cycleCount: cycles,
	}, err
}
