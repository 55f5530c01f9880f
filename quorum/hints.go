package quorum

import (
	"context"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// hints tell the first in line that a node may have been freed. They may be lost: the pause grows then, up to a bound.
type hints struct {
	freed chan int // a node whose queue changed
	stop  context.CancelFunc
	pause time.Duration // until it is tried again without a hint
}

// Bounds of hints.
const (
	firstPause   = 5 * time.Millisecond // a release may have come between the try and the watch
	longestPause = 2 * time.Second
	hintsApart   = 2 * time.Millisecond // a release reaches the nodes one after the other
	brokenPause  = 100 * time.Millisecond
)

// hint has the nodes tell the claim when their queues change.
func (d *Driver) hint(cl *claim) {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	if cl.hints != nil || cl.state == over || cl.leaving {
		return
	}
	ctx, stop := context.WithCancel(d.lifetime)
	h := &hints{freed: make(chan int, len(d.nodes)), stop: stop, pause: firstPause}
	cl.hints = h
	for _, n := range d.nodes {
		d.spawn(func(context.Context) { d.watchNode(ctx, n, cl, h) })
	}
}

// watchNode tells of changes on one node until ctx ends.
func (d *Driver) watchNode(ctx context.Context, n *node, cl *claim, h *hints) {
	for ctx.Err() == nil {
		l, err := n.reach(ctx, 0)
		if err == nil {
			err = driver.Watch(ctx, l.driver, nodeName(cl.name))
		}
		if err != nil {
			if driver.Sleep(ctx, brokenPause) != nil {
				return
			}
			continue
		}
		select {
		case h.freed <- n.at:
		default: // enough hints are waiting to be seen
		}
	}
}

// wait returns when so many nodes were freed that a try may succeed, when it is time to try without that, or when ctx
// ends.
func (h *hints) wait(ctx context.Context, enough int) error {
	alarm := time.NewTimer(h.pause)
	defer alarm.Stop()
	freed := make(map[int]bool)
	for len(freed) < enough {
		select {
		case at := <-h.freed:
			if len(freed) == 0 {
				alarm.Reset(hintsApart)
			}
			freed[at] = true
			h.pause = firstPause
		case <-alarm.C:
			if len(freed) == 0 {
				h.pause = min(2*h.pause, longestPause)
			}
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
