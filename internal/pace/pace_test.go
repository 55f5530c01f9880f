package pace

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// A test that fails after a stall runs again with longer times until there is none, and those after it begin with
// these.
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

// A test that begins with the longest times, because others stalled, is tried more than once.
func TestLastAttempts(t *testing.T) {
	t.Cleanup(func() { scale.Store(0) })
	slowDown(most)
	var last []bool
	Run(t, "stalls", func(t *T) {
		last = append(last, t.last)
		t.Stalled(time.Hour)
		if !t.last {
			t.Errorf("a claim is gone")
		}
	})
	if want := []bool{false, false, false, true}; !slices.Equal(last, want) {
		t.Errorf("the attempts were the last one: %v, want %v", last, want)
	}
}

// What was to outlive a test lives for longer when the test has taken longer than that, but not for longer than it can.
func TestOutlived(t *testing.T) {
	t.Cleanup(func() { scale.Store(0) })
	var lives []time.Duration
	Run(t, "slow", func(t *T) {
		lives = append(lives, t.Long(time.Hour, 3*time.Hour))
		t.Long(time.Nanosecond, 0) // the first counts
		if len(lives) < 3 {
			t.ends = time.Now().Add(-time.Minute)
			t.Errorf("a claim is gone")
		}
	})
	if want := []time.Duration{1 * time.Hour, 2 * time.Hour, 3 * time.Hour}; !slices.Equal(lives, want) {
		t.Errorf("the claims lived for %v, want %v", lives, want)
	}
}

// Times grow with the scale, but not beyond what can be.
func TestTTLUpTo(t *testing.T) {
	attempt := &T{T: t, scale: 8}
	for most, want := range map[time.Duration]time.Duration{1: 2, 10: 10, 16: 16, 20: 16} {
		if got := attempt.TTLUpTo(2, most); got != want {
			t.Errorf("of 2, 8 times longer, but %d at most, it makes %d, want %d", most, got, want)
		}
	}
}

// Only what a stall may explain is excused.
func TestSpoiled(t *testing.T) {
	const margin = time.Second / share
	before, after := time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	for name, row := range map[string]struct {
		attempt *T
		want    bool
	}{
		"a long stall":            {&T{margin: margin, stall: time.Second / 2}, true},
		"a short stall":           {&T{margin: margin, stall: time.Second / 20}, false},
		"a step goes on":          {&T{margin: margin, steps: map[*step]time.Time{{}: before}}, true},
		"a step has begun":        {&T{margin: margin, steps: map[*step]time.Time{{}: time.Now()}}, false},
		"long claims have ended":  {&T{margin: margin, ends: before}, true},
		"long claims live":        {&T{margin: margin, ends: after}, false},
		"it was given up before":  {&T{margin: margin, given: true}, true},
		"virtual time is no time": {&T{margin: margin, stall: time.Hour, ends: before, virtual: true}, false},
	} {
		if got := row.attempt.spoiled(); (got != "") != row.want {
			t.Errorf("%s: excused with %q, want an excuse: %v", name, got, row.want)
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
