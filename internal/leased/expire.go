package leased

import "time"

// Live makes the claim live for ttl from the instant at which a request was sent that was answered. It reports
// whether the claim had not ended.
//
// The clock is read before the request is sent, and after the caller has read it. So the caller's deadline comes first,
// then the claim ends here, and then what it lives by on the server.
//
// Answers come in any order, and whoever got one relies on it. So a newer request says how long the claim lives,
// and an older one that is answered after it can only add to that.
func (c *Claim) Live(ttl time.Duration, sent Instant) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.IsOver() || c.leaving {
		return false
	}
	c.longest = max(c.longest, ttl)
	until := sent.Add(ttl)
	if sent < c.renewed {
		c.until = max(c.until, until) // the timer looks when it fires
		return true
	}
	if until < c.until { // else the timer looks when it fires, and a renewal need not set it
		c.timer.Reset(until.Sub(Now()))
	}
	c.ttl, c.renewed, c.until = ttl, sent, until
	return true
}

// MayLive makes the claim live for ttl from an instant at least, before a request is sent by which this client would
// become the one that keeps it: another client's answer may have promised as much. It reports whether the claim had not
// ended.
func (c *Claim) MayLive(ttl time.Duration, sent Instant) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.IsOver() || c.leaving {
		return false
	}
	c.longest, c.until = max(c.longest, ttl), max(c.until, sent.Add(ttl)) // the timer looks when it fires
	return true
}

// expire ends a claim that was not renewed. The timer calls it.
func (c *Claim) expire() {
	if c.leave() {
		c.expired()
	}
}

// leave notes that the claim is about to leave the queue, unless it was renewed meanwhile, or has ended.
func (c *Claim) leave() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.IsOver() {
		return false
	}
	left := c.until.Sub(Now())
	if left > 0 {
		c.timer.Reset(left)
	}
	c.leaving = left <= 0
	return c.leaving
}

// Left notes that a claim is not leaving any more: it is out of the queue, or another client keeps it.
func (c *Claim) Left() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.leaving = false
}

// IsLeaving reports whether the claim is on its way out of the queue: whatever the server says of it will soon be
// wrong.
func (c *Claim) IsLeaving() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.leaving
}

// Lives reports whether the time of the claim has not come.
func (c *Claim) Lives() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return Now() < c.until
}

// Remaining is what is left of the claim's TTL, and never zero, which would mean that it is not known.
func (c *Claim) Remaining() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return max(c.until.Sub(Now()), 1)
}

// Longest is the longest TTL that the claim had. Its end is remembered for so long, because a late request may
// name any of them.
func (c *Claim) Longest() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.longest
}

// HadTTL notes a TTL that the claim had before this client knew of it, and returns the longest.
func (c *Claim) HadTTL(ttl time.Duration) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.longest = max(c.longest, ttl)
	return c.longest
}
