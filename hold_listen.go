package holdfast

import (
	"context"
	"sync"

	"github.com/holdfast-go/holdfast/driver"
)

// watch has the backend tell of the claim's end, so that a holder who cares, because it asked for the context of its
// lease, learns at once that its lock was broken. Others learn it from the next renewal.
func (h *hold) watch() {
	if h.hear() {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.over || h.watched {
		return
	}
	h.watched = true
	c := h.lock.client
	if w, ok := driver.As[driver.Waiter](c.driver); ok {
		ctx, cancel := context.WithCancel(c.lifetime)
		h.unwatch = cancel
		c.run(func() { h.wait(ctx, w) }) // ends with the hold
	}
}

// hear is watch where the backend needs no goroutine for each claim. It is false where it would.
func (h *hold) hear() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.over || h.watched {
		return true
	}
	c := h.lock.client
	l, ok := driver.As[driver.Listener](c.driver)
	if ok {
		h.watched = true
		c.listening.add(c, l, h)
	}
	return ok
}

// wait passes on what a backend pushes that needs a goroutine for each claim.
func (h *hold) wait(ctx context.Context, w driver.Waiter) {
	for pace := newPace(); ctx.Err() == nil; pace.Pause(ctx) { // the loop looks
		st, err := rescued(h.lock.client, func() (driver.Status, error) { return w.Wait(ctx, h.claim) })
		switch {
		case ctx.Err() != nil:
		case isGone(err):
			h.gone(err)
		case err != nil:
		case st == driver.Status{}:
			h.lock.client.keeper.hurry(&h.tracked)
		default:
			h.renewed(st, never)
		}
	}
}

// listening begins to listen for the ends of claims, one after the other in a goroutine that is there while there is
// something to begin: a backend may need a round trip for it.
type listening struct {
	mu    sync.Mutex
	queue []*hold
	busy  bool // the goroutine is there
}

func (ls *listening) add(c *Client, l driver.Listener, h *hold) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	ls.queue = append(ls.queue, h)
	if !ls.busy {
		ls.busy = true
		c.run(func() { ls.begin(c.closing, l) })
	}
}

// begin listens for all holds in the queue. One for which that fails goes behind the others.
func (ls *listening) begin(ctx context.Context, l driver.Listener) {
	pace := newPace()
	for h := ls.next(ctx); h != nil; h = ls.next(ctx) {
		if h.listen(ctx, l) {
			pace.Reset()
			continue
		}
		ls.mu.Lock()
		ls.queue = append(ls.queue, h)
		ls.mu.Unlock()
		pace.Pause(ctx) // next looks
	}
}

func (ls *listening) next(ctx context.Context) *hold {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if len(ls.queue) == 0 || ctx.Err() != nil {
		ls.busy, ls.queue = false, nil
		return nil
	}
	h := ls.queue[0]
	ls.queue = ls.queue[1:]
	return h
}

// listen has the claim renewed, whose answer tells, whenever the backend says that it may have moved. It is false
// when the backend could not be told to.
func (h *hold) listen(ctx context.Context, l driver.Listener) (done bool) {
	if !h.alive() {
		return true
	}
	c := h.lock.client
	ctx, cancel := context.WithTimeout(ctx, attemptLimit(h.grantedTTL()))
	defer cancel()
	stop, err := rescued(c, func() (func(), error) {
		return l.Listen(ctx, h.claim, func() { c.keeper.hurry(&h.tracked) })
	})
	if err != nil {
		return false
	}
	unwatch := func() {
		if caught := catch(stop); caught != nil { // it is called wherever the hold ends
			c.survive(caught)
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.unwatch = unwatch; h.over {
		unwatch()
	}
	return true
}
