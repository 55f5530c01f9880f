// Package pace lets tests whose claims expire in real time fail for what they test, and not for a machine that is busy.
//
// No time is long enough on every machine, and a time that is nearly long enough makes all tests slow. So a test begins
// with short times. Where it fails after a stall that may explain the failure, it proves nothing: it is skipped, and
// runs again with times that are twice as long. The same goes for a test that fails so late that claims may have
// ended which were to outlive it. What fails on a machine that kept pace has failed, and so has what fails in the
// last attempt.
package pace

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	// share is the part of a TTL that a stall may take. Tests make about as many requests within a TTL.
	share = 8

	// most is how many times longer than on a quiet machine a test's times may be.
	most = 16

	// least is how often a test is tried at least. One that begins with long times needs more than one attempt, too.
	least = 4

	// bears is the stall that a test bears which has named no times. Clients and servers have limits of their own, and
	// nothing on a quiet machine takes nearly so long.
	bears = 500 * time.Millisecond
)

// A T is one attempt at a test. Its methods for failing end the attempt instead, where a stall may be the reason.
type T struct {
	*testing.T
	scale   int
	last    bool // there is no attempt after this one
	virtual bool

	mu     sync.Mutex
	margin time.Duration       // a longer stall may spoil the attempt
	stall  time.Duration       // the longest so far
	steps  map[*step]time.Time // those under way, since when
	ends   time.Time           // when the first thing ends that should outlive the attempt; zero: there is none
	given  bool                // the attempt was given up
}

// Virtual returns a T for a test in a synctest bubble, where nothing stalls.
func Virtual(t *testing.T) *T { return &T{T: t, scale: 1, last: true, virtual: true} }

// Run runs a test as a subtest, and again with longer times while stalls spoil it.
func Run(t *testing.T, name string, test func(*T)) {
	for n, scale := 1, start(); try(t, name, n, scale, test); n++ {
		scale = min(2*scale, most)
		slowDown(scale)
	}
}

// try makes the nth attempt and reports whether it was given up.
func try(t *testing.T, name string, n, scale int, test func(*T)) (again bool) {
	t.Run(name, func(t *testing.T) {
		attempt := &T{T: t, scale: scale, margin: bears, last: scale >= most && n >= least}
		stop := attempt.watch()
		defer stop()
		defer func() { again = attempt.isGiven() }()
		test(attempt)
	})
	return again
}

// Scaled returns how long what takes d on a quiet machine takes in this attempt.
func (t *T) Scaled(d time.Duration) time.Duration { return d * time.Duration(t.scale) }

// Long returns how long something lives that lives for d on a quiet machine and is to outlive the attempt, but not for
// longer than limit, unless that is zero. What fails after its end is excused.
func (t *T) Long(d, limit time.Duration) time.Duration {
	d = t.Scaled(d)
	if limit > 0 {
		d = min(d, limit)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ends.IsZero() {
		t.ends = time.Now().Add(d)
	}
	return d
}

// TTL returns how long claims live that live for d on a quiet machine. The attempt bears shorter stalls from then on.
func (t *T) TTL(d time.Duration) time.Duration { return t.TTLUpTo(d, t.Scaled(d)) }

// TTLUpTo is [T.TTL] for claims that cannot live for longer than most, however slow the machine.
func (t *T) TTLUpTo(d, most time.Duration) time.Duration {
	d = max(d, min(t.Scaled(d), most))
	t.Margin(d / share)
	return d
}

// Margin says that a stall of more than d may be why the attempt fails.
func (t *T) Margin(d time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.margin = min(t.margin, d)
}

// A step is something that takes no time on a quiet machine.
type step struct{ _ byte } // each has an address of its own

// Step begins something that takes no time on a quiet machine, such as a request, and returns what ends it. A failure
// that comes before the end counts the time until then.
func (t *T) Step() (end func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s, began := new(step), time.Now()
	if t.steps == nil {
		t.steps = make(map[*step]time.Time)
	}
	t.steps[s] = began
	return func() {
		t.Stalled(time.Since(began))
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.steps, s)
	}
}

// longest returns the longest stall so far. mu is held.
func (t *T) longest() time.Duration {
	d := t.stall
	for _, began := range t.steps {
		d = max(d, time.Since(began))
	}
	return d
}

// Time is [T.Step] for helpers that do not know whether their test is an attempt.
func Time(t testing.TB) (end func()) {
	if attempt, ok := t.(*T); ok {
		return attempt.Step()
	}
	return func() {}
}

// Stalled notes that something took so much longer than it should.
func (t *T) Stalled(d time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stall = max(t.stall, d)
}

// Excuse ends the attempt if an instant has passed that a machine that keeps pace would not have let pass.
func (t *T) Excuse(instant time.Time) {
	t.Helper()
	if late := time.Since(instant); !instant.IsZero() && late > 0 && t.mayRepeat() {
		t.giveUp(fmt.Sprintf("what had to be done by then was %v late", late))
	}
}

func (t *T) Error(args ...any) {
	t.Helper()
	t.excuse(fmt.Sprintln(args...))
	t.T.Error(args...)
}

func (t *T) Errorf(format string, args ...any) {
	t.Helper()
	t.excuse(fmt.Sprintf(format, args...))
	t.T.Errorf(format, args...)
}

func (t *T) Fatal(args ...any) {
	t.Helper()
	t.excuse(fmt.Sprintln(args...))
	t.T.Fatal(args...)
}

func (t *T) Fatalf(format string, args ...any) {
	t.Helper()
	t.excuse(fmt.Sprintf(format, args...))
	t.T.Fatalf(format, args...)
}

// excuse ends the attempt before it fails, if a stall may be the reason.
func (t *T) excuse(failure string) {
	t.Helper()
	why := t.spoiled()
	switch {
	case why == "" || t.Failed():
	case t.mayRepeat():
		t.giveUp(why + "; " + failure)
	default:
		t.Logf("%s; but this was the last attempt, with times that are %d times those on a quiet machine", why, t.scale)
	}
}

// spoiled says why the attempt may fail though what it tests is right. Empty: nothing is known that would be a reason.
func (t *T) spoiled() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	late, stall := time.Since(t.ends), t.longest()
	switch {
	case t.virtual:
		return ""
	case t.given:
		return "the attempt was given up"
	case stall > t.margin:
		return fmt.Sprintf("the machine stalled for %v, and this test bears %v", stall, t.margin)
	case !t.ends.IsZero() && late > 0:
		return fmt.Sprintf("what was to outlive this test may have ended %v ago", late)
	}
	return ""
}

func (t *T) mayRepeat() bool { return !t.last }

func (t *T) giveUp(why string) {
	t.Helper()
	t.mu.Lock()
	t.given = true
	t.mu.Unlock()
	t.Skipf("this shows nothing, and runs again with longer times: %s", oneLine(why))
}

// oneLine makes one line of several: internal/runtests lists it.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

func (t *T) isGiven() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.given
}
