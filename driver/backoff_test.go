package driver_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// pausesOf are the next pauses of a backoff, by the clock.
func pausesOf(t *testing.T, b *driver.Backoff, n int) (pauses []time.Duration) {
	for range n {
		began := time.Now()
		if err := b.Pause(t.Context()); err != nil {
			t.Fatal(err)
		}
		pauses = append(pauses, time.Since(began))
	}
	return pauses
}

func TestBackoffDoublesUpToMost(t *testing.T) {
	none := func(time.Duration) time.Duration { return 0 }
	all := func(d time.Duration) time.Duration { return d }
	for _, tt := range []struct {
		name    string
		backoff driver.Backoff
		want    []time.Duration
	}{
		{"the least that is drawn", driver.Backoff{Draw: none}, []time.Duration{2, 4, 8, 10, 10}},
		{"the most that is drawn", driver.Backoff{Draw: all}, []time.Duration{4, 8, 16, 20, 20}},
		{"the least, scattered", driver.Backoff{Draw: none, Scatter: true}, []time.Duration{0, 0, 0, 0, 0}},
		{"the most, scattered", driver.Backoff{Draw: all, Scatter: true}, []time.Duration{4, 8, 16, 20, 20}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := tt.backoff
				b.First, b.Most = 4, 20
				if got := pausesOf(t, &b, len(tt.want)); !slices.Equal(got, tt.want) {
					t.Errorf("pauses are %d, want %d", got, tt.want)
				}
				b.Reset()
				if got := pausesOf(t, &b, 1); got[0] != tt.want[0] {
					t.Errorf("after Reset the pause is %d, want %d", got[0], tt.want[0])
				}
			})
		})
	}
}

func TestPausesAreDrawn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const most = time.Second
		var pauses []time.Duration
		for range 64 {
			b := driver.Backoff{First: most, Most: most}
			pauses = append(pauses, pausesOf(t, &b, 1)[0])
			began := time.Now()
			driver.Pause(t.Context(), most)
			pauses = append(pauses, time.Since(began))
		}
		least, longest := slices.Min(pauses), slices.Max(pauses)
		if least < most/2 || longest >= most || least == longest {
			t.Errorf("pauses are between %v and %v; want them apart, at least %v and below %v",
				least, longest, most/2, most)
		}
	})
}

func TestNoPauseIsNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var b, scattered driver.Backoff
		scattered.Scatter = true
		for _, err := range []error{b.Pause(t.Context()), scattered.Pause(t.Context()), driver.Pause(t.Context(), 0)} {
			if err != nil || time.Since(began) != 0 {
				t.Errorf("a pause of nothing took %v and returned %v", time.Since(began), err)
			}
		}
	})
}

func TestPauseEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		b := driver.Backoff{First: time.Hour, Most: time.Hour}
		for _, err := range []error{b.Pause(ctx), driver.Pause(ctx, time.Hour)} {
			if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Second {
				t.Errorf("after %v a pause returned %v, want %v when the context ends",
					time.Since(began), err, context.DeadlineExceeded)
			}
		}
	})
}
