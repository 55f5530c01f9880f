package claimstest

import (
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/driver"
)

// Names are bytes: neither case nor spaces at the end nor quotes nor the encoding make two of them the same, and a long
// one is as good as a short one.
func testNames(t *testing.T, s Store) {
	a, b := s.client(t), s.client(t)
	long := strings.Repeat("x", 1000)
	names := []string{
		"Job", "JOB", "job", "job ", "job\x00", "'; DROP TABLE holdfast_locks; --", `"quoted"`, "`ticks`", `back\slash`,
		"🔒", "🔓", "é", "e\u0301", "\xff\xfe", long, long[:900] + "y", strings.Repeat("🔒", 250),
	}
	for i, name := range names {
		names[i] = t.Name() + name[:min(len(name), 1000-len(t.Name()))]
		name = names[i]
		request(t, a, mutex(name), true)
		request(t, b, mutex(name), false)
	}
	var listed []string
	for name, err := range driver.List(t.Context(), b, t.Name()) {
		if err != nil {
			t.Fatal(err)
		}
		listed = append(listed, name)
	}
	slices.Sort(names)
	slices.Sort(listed)
	if !slices.Equal(names, listed) {
		t.Errorf("listed: %q\nwant: %q", listed, names)
	}
}
