package driver_test

import (
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

func TestParseDuration(t *testing.T) {
	const day = 24 * time.Hour
	for given, want := range map[string]time.Duration{
		"30s": 30 * time.Second, "1d": day, "2d12h": 60 * time.Hour, "1d30m15s": day + 30*time.Minute + 15*time.Second,
		"0d": 0, "-1d": -day, "-1d1h": -25 * time.Hour, "36h": 36 * time.Hour, "0": 0,
		"36500d": 36500 * day, "876000h": 36500 * day,
	} {
		if got, err := driver.ParseDuration(given); err != nil || got != want {
			t.Errorf("%q: got %v, %v; want %v", given, got, err, want)
		}
	}
	for _, given := range []string{"", "d", "1", "1d-1h", "1d+1h", "1d1d", "1dd", "1h1d", "1.5d", "1D", "106752d",
		"106751d24h", "99999999999999999999d", " 1d", "36501d", "36500d1ns", "876001h", "-36501d"} {
		if got, err := driver.ParseDuration(given); err == nil {
			t.Errorf("%q: got %v, want an error", given, got)
		}
	}
	for _, far := range []string{"106751d23h47m16s", "876001h", "106752d"} {
		if _, err := driver.ParseDuration(far); err == nil || !strings.Contains(err.Error(), "use 36500d or less") {
			t.Errorf("%s: %v, want advice to use 36500d or less", far, err)
		}
	}
	if _, err := driver.ParseDuration("30"); err == nil || !strings.Contains(err.Error(), "write 30s") {
		t.Errorf("30: %v, want advice to write 30s", err)
	}
}
