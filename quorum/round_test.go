package quorum

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/boottime"
)

// What is left of a grant counts from before the round, less 1% and 2 ms for clocks that run at rates of their own.
func TestRoundIsInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		booted, _ := boottime.Now() // of the real machine; it hardly goes on
		r := &round{node: driver.Claim{TTL: time.Hour}, began: time.Now(), booted: booted}
		time.Sleep(time.Hour - 36*time.Second - 2*time.Millisecond - time.Nanosecond)
		if !r.inTime() {
			t.Error("it is late before its time")
		}
		time.Sleep(time.Nanosecond)
		if r.inTime() {
			t.Error("it is in time when nothing is left but what clocks may differ by")
		}
	})
}

// It is tried again when as many claims have expired as keep it from a majority.
func TestRetryOfARound(t *testing.T) {
	yes, no := vote{answer: granted}, vote{answer: refused}
	for _, row := range []struct {
		why   string
		votes []vote
		waits []time.Duration
		want  time.Duration
	}{
		{"one is missing", []vote{yes, yes, no, no, no}, []time.Duration{0, 0, 9, 5, 7}, 5},
		{"two are missing", []vote{yes, no, no, no, no}, []time.Duration{0, 9, 5, 8, 7}, 7},
		{"all are", []vote{no, no, no, no, no}, []time.Duration{9, 5, 8, 7, 6}, 7},
		{"it is not known of enough", []vote{yes, no, no, no, no}, []time.Duration{0, 9, 0, 0, 0}, 0},
		{"none is", []vote{yes, yes, yes, no, no}, []time.Duration{0, 0, 0, 9, 9}, 0},
	} {
		r := &round{votes: row.votes, waits: row.waits}
		if got := r.retry(); got != row.want {
			t.Errorf("%s: after %d, want %d", row.why, got, row.want)
		}
	}
}

// An ID on a node is that of a claim, with the number of its round from the second on; whatever else looks like that is
// somebody's name.
func TestBaseOf(t *testing.T) {
	for _, row := range []struct{ onNode, want string }{
		{roundID("a", 1), "a"},
		{roundID("a", 2), "a"},
		{roundID("a-b", 12), "a-b"},
		{turnID("a", 1), "a"},
		{turnID("a-b", 12), "a-b"},
		{"a-t", "a-t"},
		{"a-01t", "a-01t"},
		{"a-1", "a-1"},
		{"a-02", "a-02"},
		{"a-b", "a-b"},
		{"-2", "-2"},
		{"2", "2"},
	} {
		if got := baseOf(row.onNode); got != row.want {
			t.Errorf("%q is a round of %q, want %q", row.onNode, got, row.want)
		}
	}
}
