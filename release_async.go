package holdfast

// WithAsyncRelease lets Release return before the backend has answered. The claim is given back at once in the
// background, together with the next requests of this client where there are some, and again until the backend
// answers. So a caller waits for one round trip in each cycle instead of two.
//
// The price: Release returns nil when the lock was valid by its deadline, also where the backend would say that
// somebody has broken it, and so does Do. That, and a backend that does not answer, is logged, and is the Err of the
// OpRelease that an [Observer] sees when it is known. For a moment after Release others may still find the lock taken;
// a TryLock of this client waits until it is given back. A process that ends without [Client.Close] leaves the lock to
// its TTL.
//
// It changes nothing about a lock that passes to another goroutine of this client, that is kept by [WithReuse], or
// whose [WithMinHold] is not over.
func WithAsyncRelease() Option { return func(s *settings) { s.asyncRelease = true } }

// giveBackLater releases the claim in the background, and tells the observer of the lease what came of it. An error is
// known at once: the hold was lost before.
func (h *hold) giveBackLater(l *Lease) error {
	g, c := l.grant, h.lock.client
	if _, ended := h.end(); !ended {
		err := h.lostBefore(g)
		l.tell(OpRelease, err)
		return err
	}
	c.undoAndTell(h.claim, h.validUntil(), func(answer error) {
		err := h.outcome(g, answer)
		if err != nil {
			c.warn(g.lock.settings.logger, "holdfast: releasing a lock in the background failed",
				"lock", h.claim.Name, "backend", c.label, "error", err)
		}
		l.tell(OpRelease, err)
	})
	c.gates.left(h)
	return nil
}
