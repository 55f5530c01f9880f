package stats

import (
	"math"
	"slices"
	"testing"
)

func TestQuantile(t *testing.T) {
	for _, row := range []struct {
		name   string
		values []float64
		q      float64
		want   float64
	}{
		{"odd count", []float64{9, 1, 5}, 0.5, 5},
		{"even count lies between the middle two", []float64{4, 1, 2, 3}, 0.5, 2.5},
		{"highest", []float64{3, 1, 2}, 1, 3},
		{"lowest", []float64{3, 1, 2}, 0, 1},
		{"between neighbours", []float64{0, 10}, 0.99, 9.9},
		{"single value", []float64{7}, 0.99, 7},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := Quantile(row.values, row.q); math.Abs(got-row.want) > 1e-9 {
				t.Errorf("Quantile(%v, %v) = %v, want %v", row.values, row.q, got, row.want)
			}
		})
	}
}

func TestNothingMeasuredIsNotANumber(t *testing.T) {
	for name, got := range map[string]float64{
		"Median": Median(nil), "Mean": Mean(nil),
	} {
		if !math.IsNaN(got) {
			t.Errorf("%s of nothing = %v, want NaN", name, got)
		}
	}
}

func TestPairedRatiosForgetDisturbances(t *testing.T) {
	ours, theirs := []float64{2, 200, 2, 7}, []float64{1, 100, 1}
	if got := PairedRatios(ours, theirs); !slices.Equal(got, []float64{2, 2, 2}) {
		t.Errorf("PairedRatios = %v, want 2 in each round that both were measured in", got)
	}
}
