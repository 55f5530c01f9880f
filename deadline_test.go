package holdfast

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// silentDriver answers nothing.
type silentDriver struct{ driver.Driver }

func (silentDriver) Traits() driver.Traits                       { return driver.Traits{} }
func (silentDriver) Release(context.Context, driver.Claim) error { return driver.ErrGone }

func TestTrustedUntil(t *testing.T) {
	for ttl, want := range map[time.Duration]time.Duration{
		time.Second:             940 * time.Millisecond, // 1% for the clocks' rates, 50 ms to act
		2500 * time.Millisecond: 2425 * time.Millisecond,
		100 * time.Second:       97 * time.Second, // 1% and 2%
		100 * time.Millisecond:  49 * time.Millisecond,
	} {
		if got := trustedUntil(1000, ttl).sub(1000); got != want {
			t.Errorf("TTL %v is trusted for %v, want %v", ttl, got, want)
		}
	}
}

// Err is right in the first instruction after a pause: before any timer or goroutine has run.
func TestErrEvaluatesTheDeadlineItself(t *testing.T) {
	c := New(silentDriver{})
	l := c.lock("m", nil)
	h := l.hold(alone, l.claim(alone, false), driver.Status{Granted: true, Token: 1, TTL: time.Hour}, now())
	lease := h.grant(&l, 0).lease(t.Context(), nil)
	if err := lease.Err(); err != nil {
		t.Fatal(err)
	}
	h.until.Store(int64(now()))
	if err := lease.Err(); !errors.Is(err, ErrLost) {
		t.Errorf("Err after the deadline is %v", err)
	}
}

// A grant that is pushed to a waiter whose claim may have expired, because this process was paused, is in doubt.
func TestLateGrantIsInDoubt(t *testing.T) {
	c := New(silentDriver{})
	l := c.lock("m", nil)
	w := l.wait(alone, l.claim(alone, true), driver.Status{TTL: time.Hour}, now())
	defer c.keeper.remove(&w.kept)
	w.pushed(driver.Status{Granted: true, Token: 1})
	if st, doubt, err := w.news(); !st.Granted || doubt || err != nil {
		t.Errorf("in time: %+v, doubt %v, %v", st, doubt, err)
	}
	w.until.Store(int64(now()))
	if _, doubt, _ := w.news(); !doubt {
		t.Error("a late grant is believed")
	}
}
