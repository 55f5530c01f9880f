package leased

import "github.com/holdfast-go/holdfast/driver"

// A Reading is what a look at the queue found for a claim.
type Reading struct {
	Verdict  Verdict
	Behind   bool  // others are behind it
	Partial  bool  // the look did not tell who is behind it
	Revoked  bool  // somebody asked its holder to let go; false where the look did not tell
	Revision int64 // of the store; zero where readings come in the order in which they were taken
}

// Note notes what was read, and answers about the claim. Readings of several calls are noted in any order: an older one
// does not replace what a newer one found, but a grant holds for good, because nothing can come ahead of a claim any
// more. So does a request to let go.
func (c *Claim) Note(r Reading) driver.Status {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.Verdict.Bounds != (Bounds{}) {
		c.bounds = r.Verdict.Bounds
	}
	granted, verdict := c.granted, c.verdict
	c.granted = c.granted || r.Verdict.Granted
	c.revoked = c.revoked || r.Revoked
	if r.Revision >= c.read {
		c.verdict, c.read = r.Verdict, r.Revision
	}
	if !r.Partial && r.Revision >= c.readBehind {
		c.behind, c.readBehind = r.Behind, r.Revision
	}
	if c.granted {
		c.verdict = Verdict{Granted: true}
	}
	if c.granted != granted || c.verdict.Watch != verdict.Watch || c.verdict.Until != verdict.Until {
		c.tell()
	}
	return c.status()
}

// tell lets a wait under way look at what a renewal found.
func (c *Claim) tell() {
	select {
	case c.news <- struct{}{}:
	default: // it is to look anyway
	}
}

// News has an element when what the claim waits for has changed by a reading that was noted.
func (c *Claim) News() <-chan struct{} { return c.news }

// Grant notes that the claim is granted.
func (c *Claim) Grant() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.granted, c.verdict = true, Verdict{Granted: true}
}

// IsGranted reports whether the claim is granted.
func (c *Claim) IsGranted() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.granted
}

// Revoke notes whether somebody asked the holder to let go.
func (c *Claim) Revoke(asked bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.revoked = asked
}

// Status is what is known without a question. Who came after the last look, and waits behind, is not.
func (c *Claim) Status() driver.Status {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.status()
}

func (c *Claim) status() driver.Status {
	return driver.Status{
		Token: c.token, Granted: c.granted, TTL: c.ttl, Retry: c.verdict.Retry,
		Contended: c.behind, Revoked: c.granted && c.revoked,
	}
}

// Verdict is what follows from the newest reading.
func (c *Claim) Verdict() Verdict {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.verdict
}

// Bounds are those of the claim and the ones ahead of it when it was granted; zero when they are not known.
func (c *Claim) Bounds() Bounds {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bounds
}

// IsFollowed reports whether others were behind the claim at the last look for them.
func (c *Claim) IsFollowed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.behind
}

// Revision is that of the newest reading.
func (c *Claim) Revision() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.read
}
