// Package stats sums up repeated measurements on a machine that others use too.
package stats

import (
	"math"
	"slices"
)

// Median returns the middle of the values, or NaN when there are none.
func Median(values []float64) float64 { return Quantile(values, 0.5) }

// Quantile returns the value below which the fraction q of the values lies, interpolated between neighbours, or NaN
// when there are none. The values keep their order.
func Quantile(values []float64, q float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	at := q * float64(len(sorted)-1)
	low := int(at)
	if low == len(sorted)-1 {
		return sorted[low]
	}
	return sorted[low] + (at-float64(low))*(sorted[low+1]-sorted[low])
}

// Mean returns the arithmetic mean, or NaN when there are no values.
func Mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// PairedRatios returns each a[i]/b[i]. Measured in turns, a[i] and b[i] saw the same disturbances, which the ratio of
// two medians would not know.
func PairedRatios(a, b []float64) []float64 {
	ratios := make([]float64, 0, len(a))
	for i := range min(len(a), len(b)) {
		ratios = append(ratios, a[i]/b[i])
	}
	return ratios
}
