package holdfast

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/boottime"
)

func TestNow(t *testing.T) {
	a, start := now(), time.Now()
	for time.Since(start) < 2*time.Millisecond {
	}
	if d := now().sub(a); d < time.Millisecond || d > time.Minute {
		t.Errorf("2ms took %v", d)
	}
}

// What the clocks went ahead of Go's monotonic one has passed, each time once, whatever they are set to in between.
func TestLapse(t *testing.T) {
	const h, years = time.Hour, 16 * 365 * 24 * time.Hour
	type step struct {
		ahead, slept time.Duration // by how much the clocks go ahead in this step
		unseen       time.Duration // how much of it counts
	}
	for what, steps := range map[string][]step{
		"suspended":                              {{h, h, h}},
		"suspended twice":                        {{h, h, h}, {h, h, h}},
		"suspended and set back by a day":        {{-23 * h, h, h}},
		"set back":                               {{-h, 0, 0}},
		"set forward, as after a paused VM":      {{h, 0, h}},
		"set forward and back":                   {{h, 0, h}, {-h, 0, 0}},
		"set back and forward":                   {{-h, 0, 0}, {h, 0, h}},
		"booted in 2010, set later":              {{years, 0, years}, {h, h, h}},
		"a system without CLOCK_BOOTTIME sleeps": {{h, 0, h}, {h, 0, h}},
		"a step after a misread long sleep":      {{0, h, h}, {0, -h, 0}, {h / 2, h / 2, h / 2}},
	} {
		p := lapse{ahead: 5, slept: 7}
		for i, s := range steps {
			next := p.after(p.ahead+s.ahead, p.slept+s.slept)
			if got := next.unseen - p.unseen; got != s.unseen {
				t.Errorf("%s, step %d: %v count, want %v", what, i, got, s.unseen)
			}
			p = next
		}
	}
}

// A suspension shows in the next reading, and so does a wall clock that was set forward. now never goes back.
func TestNowAfterSuspension(t *testing.T) {
	now()
	real := lapsed.Load()
	defer lapsed.Store(real)
	_, hasBoot := boottime.Now()
	lapsedBy := func(ahead, slept time.Duration) lapse {
		return lapse{real.unseen, real.ahead + ahead, real.slept + slept}
	}
	for what, c := range map[string]struct {
		then   lapse
		passed time.Duration
	}{
		"nothing":                          {*real, 0},
		"suspended for an hour":            {lapsedBy(-time.Hour, -time.Hour), time.Hour},
		"suspended for a moment":           {lapsedBy(-2*samePace, -2*samePace), 2 * samePace},
		"wall clock set forward":           {lapsedBy(-time.Hour, 0), time.Hour},
		"wall clock set back":              {lapsedBy(time.Hour, 0), 0},
		"suspended, and set back by a day": {lapsedBy(23*time.Hour, -time.Hour), time.Hour},
	} {
		if c.then.ahead > real.ahead && c.passed > 0 && !hasBoot {
			continue // nothing shows it
		}
		lapsed.Store(real)
		before := now()
		lapsed.Store(&c.then)
		if got := now().sub(before); got < c.passed-samePace || got > c.passed+time.Minute {
			t.Errorf("%s: %v have passed, want %v", what, got, c.passed)
		}
	}
}

// silentDriver answers nothing.
type silentDriver struct{ driver.Driver }

func (silentDriver) Traits() driver.Traits                      { return driver.Traits{} }
func (silentDriver) Subscribe(func(driver.Event)) (stop func()) { return func() {} }
func (silentDriver) Do(_ context.Context, ops []driver.Op, done func(int, driver.Result)) {
	for i := range ops {
		done(i, driver.Result{Err: driver.ErrGone})
	}
}

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
	w := l.wait(alone, l.claim(alone, true), reply{Status: driver.Status{TTL: time.Hour}, sent: now()})
	defer c.keeper.remove(&w.tracked)
	w.told(driver.Event{Status: driver.Status{Granted: true, Token: 1}})
	if st, doubt, err := w.news(); !st.Granted || doubt || err != nil {
		t.Errorf("in time: %+v, doubt %v, %v", st, doubt, err)
	}
	w.until.Store(int64(now()))
	if _, doubt, _ := w.news(); !doubt {
		t.Error("a late grant is believed")
	}
}

// Whether a waiting claim that is gone had expired is judged when that is first found out: a renewal that was under way
// finds it out once more.
func TestEndIsJudgedOnce(t *testing.T) {
	c := New(silentDriver{})
	l := c.lock("m", nil)
	w := l.wait(alone, l.claim(alone, true), reply{Status: driver.Status{TTL: time.Hour}, sent: now()})
	c.keeper.remove(&w.tracked)
	w.gone(driver.ErrGone)
	w.until.Store(int64(now()))
	w.gone(driver.ErrGone)
	if !w.endedEarly() {
		t.Error("a claim that had ended before is taken for expired")
	}
}
