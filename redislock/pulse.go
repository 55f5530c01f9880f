package redislock

import (
	"sync/atomic"
	"time"
)

// started is the instant from which this package counts time where it needs no calendar.
var started = time.Now()

// A pulse is what one knows of a connection by what goes over it: for how long an answer is missing, and when
// something came. Both are times since started; zero is never.
type pulse struct{ asked, heard atomic.Int64 }

// ask notes that something is sent, to which an answer will come. What is sent while another answer is missing does
// not make that younger.
func (p *pulse) ask() { p.asked.CompareAndSwap(0, int64(time.Since(started))) }

// hear notes that something has come.
func (p *pulse) hear() {
	p.heard.Store(int64(time.Since(started)))
	p.asked.Store(0)
}

// silence is for how long an answer is missing, with nothing else coming either.
func (p *pulse) silence() time.Duration {
	asked := p.asked.Load()
	if asked == 0 {
		return 0
	}
	return time.Since(started) - time.Duration(asked)
}

// heardSince reports whether something has come after an instant.
func (p *pulse) heardSince(since time.Duration) bool { return time.Duration(p.heard.Load()) >= since }

// neverHeard reports whether nothing has ever come.
func (p *pulse) neverHeard() bool { return p.heard.Load() == 0 }
