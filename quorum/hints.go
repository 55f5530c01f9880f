package quorum

import (
	"context"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// hints tell the first in line that a node may have been freed. They may be lost: the pause grows then, up to a bound.
type hints struct {
	freed   map[int]bool  // nodes whose queue has changed since the last try
	watched []time.Time   // by node: when it was told to watch its queue; zero when it has told of a change since
	pause   time.Duration // until it is tried again without a hint
	stop    func()
}

// Bounds of hints.
const (
	firstPause = 5 * time.Millisecond     // a release may have come between the try and the watch
	hintsApart = 2 * time.Millisecond     // a release reaches the nodes one after the other
	watchAgain = driver.WatchTime * 3 / 4 // before the node may have forgotten
)

// hint has those nodes tell the claim when their queues change that do not do so already.
func (d *Driver) hint(cl *claim) {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	if cl.state == over || cl.leaving {
		return
	}
	if cl.hints == nil {
		cl.hints = &hints{
			freed: make(map[int]bool), watched: make([]time.Time, len(d.nodes)), pause: firstPause,
			stop: d.events.hope(cl),
		}
	}
	h := cl.hints
	for at, n := range d.nodes {
		if time.Since(h.watched[at]) < watchAgain {
			continue
		}
		h.watched[at] = time.Now() // first: the node may tell of a change before it answers
		d.spawn(func(ctx context.Context) {
			if d.watchOn(ctx, n, cl.name) != nil {
				cl.mu.Lock()
				defer cl.mu.Unlock()
				h.watched[at] = time.Time{}
			}
		})
	}
}

// freed notes that a node may have been freed. A claim that hopes for that is tried once a majority has said so, or
// those have that a release has reached in time.
func (d *Driver) freed(cl *claim, n *node) {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	h := cl.hints
	if h == nil {
		return
	}
	h.watched[n.at], h.freed[n.at], h.pause = time.Time{}, true, firstPause
	if len(h.freed) < majority(len(d.nodes)) {
		d.askIn(cl, hintsApart)
		return
	}
	h.tried()
	d.ask(cl)
	cl.alarmAt = time.Time{} // the answer will say when to ask next
	d.askIn(cl, longestPause)
}

// tried notes that the claim is about to be tried: after a longer and longer pause, while there are no hints.
func (h *hints) tried() {
	if len(h.freed) == 0 {
		h.pause = min(2*h.pause, longestPause)
	}
	clear(h.freed)
}
