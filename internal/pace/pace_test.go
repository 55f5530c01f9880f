package pace

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// A test that fails after a stall runs again with longer times until there is none, and those after it begin with these.
func TestAgain(t *testing.T) {
	t.Cleanup(func() { scale.Store(0) })
	var ttls []time.Duration
	Run(t, "stalls", func(t *T) {
		ttl := t.TTL(time.Hour)
		ttls = append(ttls, ttl)
		if ttl < 4*time.Hour {
			t.Stalled(ttl / 4)
			t.Errorf("a claim is gone")
			ttls = append(ttls, 0) // the attempt should have ended
		}
	})
	Run(t, "later", func(t *T) { ttls = append(ttls, t.TTL(time.Hour)) })
	if want := []time.Duration{1 * time.Hour, 2 * time.Hour, 4 * time.Hour, 4 * time.Hour}; !slices.Equal(ttls, want) {
		t.Errorf("the claims lived for %v, want %v", ttls, want)
	}
}

func TestInstantPassed(t *testing.T) {
	t.Cleanup(func() { scale.Store(0) })
	attempts := 0
	Run(t, "late", func(t *T) {
		attempts++
		t.Excuse(time.Time{})
		t.Excuse(time.Now().Add(time.Hour))
		if attempts == 1 {
			t.Excuse(time.Now().Add(-time.Nanosecond))
		}
	})
	if attempts != 2 {
		t.Errorf("%d attempts, want 2", attempts)
	}
}

// Only what a stall may explain is excused.
func TestSpoiled(t *testing.T) {
	for name, row := range map[string]struct {
		attempt *T
		want    bool
	}{
		"a long stall":            {&T{scale: 1, margin: time.Second / share, stall: time.Second / 2}, true},
		"a short stall":           {&T{scale: 1, margin: time.Second / share, stall: time.Second / 20}, false},
		"no claim expires":        {&T{scale: 1, stall: time.Hour}, false},
		"the longest times":       {&T{scale: most, margin: time.Second / share, stall: time.Hour}, false},
		"virtual time is no time": {&T{scale: 1, margin: time.Second / share, stall: time.Hour, virtual: true}, false},
	} {
		if got := row.attempt.spoiled(); got != row.want {
			t.Errorf("%s: excused: %v, want %v", name, got, row.want)
		}
	}
}

// Who does not get its turn is stalled, whatever it was doing.
func TestTurnsAreWatched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		attempt := &T{T: t, scale: 1}
		stop := attempt.watch()
		time.Sleep(time.Second)
		stop()
		if attempt.stall < tick {
			t.Errorf("the longest time without a turn was %v, want at least the %v between two", attempt.stall, tick)
		}
	})
}
