package main

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/internal/bubble"
)

// Each row is a queue before and after, as "h" for holders and "w" for waiters, and what has changed.
func TestChangesFrom(t *testing.T) {
	queue := func(holders, waiters, err string) view {
		v := view{Name: "n", Error: err}
		for _, id := range strings.Fields(holders) {
			v.Holders = append(v.Holders, claim{ID: id, Owner: id, ExpiresIn: 3})
		}
		for _, id := range strings.Fields(waiters) {
			v.Waiters = append(v.Waiters, claim{ID: id, Owner: id})
		}
		return v
	}
	renewed := queue("a", "b", "")
	renewed.Holders[0].ExpiresIn = 15
	for _, row := range []struct {
		name          string
		before, after view
		want          []string
	}{
		{"nothing", queue("a", "b", ""), queue("a", "b", ""), nil},
		{"a renewal is no change", queue("a", "b", ""), renewed, nil},
		{"first", queue("", "", ""), queue("a", "b", ""), []string{"holds  a", "waits  b"}},
		{"handed on", queue("a", "b c", ""), queue("b", "c", ""), []string{"ended  a", "holds  b"}},
		{"one who waited left", queue("a", "b", ""), queue("a", "", ""), []string{"ended  b"}},
		{"free", queue("a", "", ""), queue("", "", ""), []string{"ended  a"}},
		{"unreadable: nothing is known to have ended", queue("a", "", ""), queue("", "", "bad\x1brecord"),
			[]string{`cannot be read: "bad\x1brecord"`}},
		{"it still is", queue("", "", "bad"), queue("", "", "bad"), nil},
	} {
		if got := row.after.changesFrom(row.before); !slices.Equal(got, row.want) {
			t.Errorf("%s: got %q, want %q", row.name, got, row.want)
		}
	}
}

// What does not fit a terminal is left out, so that nothing scrolls away and is drawn over in the wrong place.
func TestFit(t *testing.T) {
	lines := []string{"head", "a", "b", "c"}
	for most, want := range map[int]string{
		9: "head a b c", 4: "head a b c", 3: "head a … and 2 more", 2: "head … and 3 more", 1: "… and 4 more",
	} {
		if got := strings.Join(fit(lines, most), " "); got != want {
			t.Errorf("%d lines: got %q, want %q", most, got, want)
		}
	}
	if lines[2] != "b" {
		t.Error("the lines themselves were changed")
	}
}

// A look at thousands of locks may take long: what takes less than a minute is not given up, and the pause after it is
// longer than it, so that who looks on costs the backend little.
func TestLooksThatTakeLong(t *testing.T) {
	defer bubble.Alone()()
	synctest.Test(t, func(t *testing.T) {
		const long = 50 * time.Second
		begin, looks := time.Now(), 0
		slow := func(ctx context.Context) ([]view, error) {
			sleep(ctx, long)
			return nil, ctx.Err()
		}
		for _, err := range again(listLimit, slow)(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			if looks++; looks == 3 {
				break
			}
		}
		if took, least := time.Since(begin), 3*long+2*lookShare*long; took < least {
			t.Errorf("three looks took %v, want %v at least", took, least)
		}
	})
}
