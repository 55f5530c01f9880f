package quorum

import (
	"math/rand/v2"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// When a claim is asked about though no node says so: what they tell may be lost, and a node that keeps a line may have
// gone.
const (
	lineWait     = 2 * time.Second       // for a place in line
	linePart     = 5                     // of the TTL, if that is less
	longestPause = 2 * time.Second       // for the first in line, and for those without a place
	breakTakes   = 20 * time.Millisecond // to reach the other nodes
)

// jittered is about this long, and never in step with others.
func jittered(pause time.Duration) time.Duration { return pause*3/4 + rand.N(pause/4+1) }

// ask has the subscribers ask about a claim.
func (d *Driver) ask(cl *claim) { d.tell(driver.Event{Name: cl.name, ID: cl.id}) }

// tellEnd tells that a claim has ended.
func (d *Driver) tellEnd(cl *claim) {
	d.tell(driver.Event{Name: cl.name, ID: cl.id, Err: driver.ErrGone})
}

// askIn has a claim asked about after a pause, unless it will be sooner. The caller holds cl.mu.
func (d *Driver) askIn(cl *claim, pause time.Duration) {
	at := time.Now().Add(pause)
	switch {
	case cl.state == over || cl.leaving || !cl.alarmAt.IsZero() && cl.alarmAt.Before(at):
		return
	case cl.alarm == nil:
		cl.alarm = time.AfterFunc(pause, func() { d.ring(cl) })
	default:
		cl.alarm.Reset(pause)
	}
	cl.alarmAt = at
}

// askAgain is askIn for a claim that has just been answered that it waits. The caller holds cl.mu.
func (d *Driver) askAgain(cl *claim) {
	switch {
	case cl.hints != nil:
		d.askIn(cl, cl.hints.pause)
	case cl.turn != nil:
		d.askIn(cl, jittered(min(lineWait, cl.ask.TTL/linePart)))
	default:
		d.askIn(cl, jittered(longestPause))
	}
}

// ring is what the alarm does.
func (d *Driver) ring(cl *claim) {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	cl.alarmAt = time.Time{}
	if cl.hints != nil {
		cl.hints.tried()
	}
	if cl.state != over && !cl.leaving {
		d.ask(cl)
	}
}

// askNoMore ends what would have a claim asked about: the alarm, and hints. The caller holds cl.mu.
func (cl *claim) askNoMore() {
	if cl.alarm != nil {
		cl.alarm.Stop()
		cl.alarmAt = time.Time{}
	}
	if cl.hints != nil {
		cl.hints.stop()
		cl.hints = nil
	}
}
