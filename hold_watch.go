package holdfast

import "github.com/holdfast-go/holdfast/driver"

// watch has the driver tell of the claim's end, and of requests to release it, so that a holder who cares learns of
// them at once. Others learn of them with the next renewal.
func (h *hold) watch() {
	h.mu.Lock()
	watches := !h.over && !h.watched
	h.watched = h.watched || watches
	h.mu.Unlock()
	if !watches {
		return
	}
	c := h.lock.client
	c.inbox.add(h.claim.ID, h)
	if !h.alive() { // its end may have come before
		c.inbox.remove(h.claim.ID, h)
	}
	c.keeper.renewSoon(&h.tracked) // which tells the driver to follow the claim
}

// told is what the driver tells; see recipient. What it means, the answer to a renewal says.
func (h *hold) told(driver.Event) { h.lock.client.keeper.hurry(&h.tracked) }

// follows reports whether the driver is to tell what happens to the claim.
func (h *hold) follows() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.watched
}
