package driver_test

import (
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

func TestMillisecondsAreNeverLess(t *testing.T) {
	for d, want := range map[time.Duration]int64{
		0:                                    0,
		1:                                    1,
		time.Millisecond - 1:                 1,
		time.Millisecond:                     1,
		time.Millisecond + 1:                 2,
		15 * time.Second:                     15_000,
		15*time.Second + 1*time.Microsecond:  15_001,
		24*time.Hour - 500*time.Microsecond:  86_400_000,
		300*time.Millisecond - 1*time.Second: -700,
	} {
		if got := driver.Milliseconds(d); got != want {
			t.Errorf("Milliseconds(%v) = %d, want %d", d, got, want)
		}
	}
}
