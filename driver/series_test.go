package driver_test

import (
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

func TestNextID(t *testing.T) {
	first := driver.NewID()
	series, ok := strings.CutSuffix(first, "_00000001")
	if !ok {
		t.Fatalf("%q is not the first of a series", first)
	}
	for id, want := range map[string]string{
		first:                 series + "_00000002",
		series + "_00000009":  series + "_00000010",
		series + "_09999999":  series + "_10000000",
		series + "_99999998":  series + "_99999999",
		"a_b_00000041":        "a_b_00000042",
		series + "_99999999":  "",
		series + "_0000000x":  "",
		series + "-00000001":  "",
		"_0000001":            "",
		"plain":               "",
		"":                    "",
		series + "_000000001": "",
	} {
		got := driver.NextID(id)
		if want == "" && (strings.HasPrefix(got, series) || !strings.HasSuffix(got, "_00000001")) {
			t.Errorf("after %q comes %q, want the first of another series", id, got)
		}
		if want != "" && got != want {
			t.Errorf("after %q comes %q, want %q", id, got, want)
		}
		claim := driver.Claim{Name: "a", ID: got, Weight: 1, Limit: 1, TTL: time.Second}
		if err := driver.Validate(claim, driver.Traits{}); err != nil {
			t.Errorf("%q is no ID: %v", got, err)
		}
	}
}

// The IDs of a series lie between its bounds, and no other does.
func TestSeriesStartAndEnd(t *testing.T) {
	id := driver.NewID()
	before, last := driver.SeriesStart(id), driver.SeriesEnd(id)
	for range 3 {
		if id <= before || id > last {
			t.Errorf("%q is not between %q and %q", id, before, last)
		}
		id = driver.NextID(id)
	}
	if other := driver.NewID(); other > before && other <= last {
		t.Errorf("%q, which is of another series, is between %q and %q", other, before, last)
	}
	for _, id := range []string{"a", "a_1", "a_0000000x", ""} {
		if before, last := driver.SeriesStart(id), driver.SeriesEnd(id); before != id || last != id {
			t.Errorf("%q belongs to no series, and is between %q and %q", id, before, last)
		}
	}
}
