package holdfast

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/boottime"
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
	lease := h.grant(&l, 0).lease(t.Context())
	if err := lease.Err(); err != nil {
		t.Fatal(err)
	}
	h.until.Store(int64(now()))
	if err := lease.Err(); !errors.Is(err, ErrLost) {
		t.Errorf("Err after the deadline is %v", err)
	}
}

// The clock is that of suspended machines where there is one, and never goes back.
func TestNow(t *testing.T) {
	a, start := now(), time.Now()
	for time.Since(start) < 2*time.Millisecond {
	}
	if d := now().sub(a); d < time.Millisecond || d > time.Minute {
		t.Errorf("2ms took %v", d)
	}
}

// A suspension shows in the next reading, and a wall clock that is set does not.
func TestNowAfterSuspension(t *testing.T) {
	if _, ok := boottime.Now(); !ok {
		t.Skip("this system has no clock that goes on while it is suspended")
	}
	now()
	real := parted.Load()
	defer parted.Store(real)
	for what, awake := range map[string]parting{
		"suspended for an hour":            {jumped: real.jumped - time.Hour, slept: real.slept - time.Hour},
		"suspended for a moment":           {jumped: real.jumped - 2*samePace, slept: real.slept - 2*samePace},
		"wall clock set forward":           {jumped: real.jumped - time.Hour, slept: real.slept},
		"wall clock set back":              {jumped: real.jumped + time.Hour, slept: real.slept},
		"suspended, and set back by a day": {jumped: real.jumped + 23*time.Hour, slept: real.slept - time.Hour},
	} {
		parted.Store(&awake)
		before, _ := boottime.Now()
		got := time.Duration(now())
		after, _ := boottime.Now()
		if got < before-samePace/2 || got > after+samePace {
			t.Errorf("%s: the clock says %v, want from %v to %v", what, got, before, after)
		}
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
