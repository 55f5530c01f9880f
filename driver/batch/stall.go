package batch

import (
	"slices"
	"time"
)

// Bounds of when an attempt is stalled: see pace.stalledAfter.
const (
	mostStalled  = 8                     // attempts of a lane
	timesSlower  = 4                     // than the mean
	leastStalled = 20 * time.Millisecond // no attempt is stalled sooner, unless limits are short
	limitPart    = 8                     // of the shortest limit of those that wait
	meanWeight   = 8                     // of so many attempts the mean is made, about
)

// A pace is how long the attempts of a lane take.
type pace struct {
	mean  time.Duration // zero: none has ended yet
	alarm *time.Timer   // looks when an attempt has stalled; nil: there was none yet
	at    time.Duration // when it goes off
	armed bool
}

// took adds how long an attempt took.
func (p *pace) took(d time.Duration) {
	if p.mean == 0 {
		p.mean = d
		return
	}
	p.mean += (d - p.mean) / meanWeight
}

// stalledAfter is how long an attempt is waited for by operations of which the shortest limit is least. All
// attempts that may stall together take no longer than that.
func (p *pace) stalledAfter(least time.Duration) time.Duration {
	after := max(timesSlower*p.mean, leastStalled)
	if least > 0 {
		after = min(after, least/limitPart)
	}
	return after
}

// started counts an attempt that begins.
func (s *Sender) started(l *lane, a *attempt) {
	if s.traits.MaxInFlight > 0 {
		l.attempts = append(l.attempts, a)
	}
}

// ended takes an attempt out of those that are under way. How long one took that was cancelled, or has ended
// with its limit, says nothing about the engine.
func (s *Sender) ended(l *lane, a *attempt) {
	if s.traits.MaxInFlight == 0 {
		return
	}
	if i := slices.Index(l.attempts, a); i >= 0 {
		l.attempts = slices.Delete(l.attempts, i, i+1)
	}
	if a.ctx.Err() == nil {
		l.pace.took(s.now() - a.began)
	}
}

// hasRoom reports whether another attempt may begin.
func (s *Sender) hasRoom(l *lane) bool {
	if s.traits.MaxInFlight == 0 || len(l.attempts) < s.traits.MaxInFlight {
		return true
	}
	stalled, _ := l.stalled(s.now())
	return len(l.attempts)-stalled < s.traits.MaxInFlight
}

// stalled counts the attempts that are stalled, and returns when the next one is.
func (l *lane) stalled(now time.Duration) (n int, next time.Duration) {
	after := l.pace.stalledAfter(l.least)
	for _, a := range l.attempts { // oldest first
		if n == mostStalled {
			return n, 0
		}
		if now-a.began < after {
			return n, a.began + after
		}
		n++
	}
	return n, 0
}

// lookWhenStalled has the lane looked at when its next attempt stalls.
func (s *Sender) lookWhenStalled(l *lane) {
	now := s.now()
	_, next := l.stalled(now)
	p := &l.pace
	if next == 0 || p.armed && p.at <= next {
		return
	}
	p.at, p.armed = next, true
	if p.alarm == nil {
		p.alarm = time.AfterFunc(next-now, func() { s.looked(l) })
		return
	}
	p.alarm.Reset(next - now)
}

// looked has what waits leave, now that an attempt may have stalled.
func (s *Sender) looked(l *lane) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l.pace.armed = false
	s.depart(l)
}
