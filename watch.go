package holdfast

import (
	"context"

	"github.com/holdfast-go/holdfast/driver"
)

// watch listens for the claim's end, so that a holder who cares, since it asked for the context of its lease, learns at
// once that its lock was broken. Others learn it from the next renewal.
func (h *hold) watch() {
	w, ok := driver.As[driver.Waiter](h.lock.client.driver)
	if !ok {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.over || h.unwatch != nil {
		return
	}
	ctx, cancel := context.WithCancel(h.lock.client.lifetime)
	h.unwatch = cancel
	h.lock.client.background.run(func() { h.listen(ctx, w) }) // ends with the hold
}

// listen passes on what the driver pushes.
func (h *hold) listen(ctx context.Context, w driver.Waiter) {
	for pace := (pace{}); ctx.Err() == nil; pace.pause(ctx) { // the loop looks
		st, err := w.Wait(ctx, h.claim)
		switch {
		case ctx.Err() != nil:
		case isGone(err):
			h.gone(err)
		case err != nil:
		case st == driver.Status{}:
			h.lock.client.keeper.hurry(&h.kept)
		default:
			h.renewed(st)
		}
	}
}
