package holdfast

import "time"

// Stats are figures of a client at one moment, for gauges.
type Stats struct {
	Backend        string        // "redis", "file" and so on
	Held           int           // locks of the client; one that passes between its goroutines, or is counted, is one
	Waiting        int           // calls that wait for a lock
	FailedRenewals uint64        // renewals without an answer, or refused for now, since the client was made
	Validity       time.Duration // how long until the first lease ends unless it is renewed; zero if none is held
}

// Stats returns the current figures. It does no I/O, and takes a few nanoseconds for each lock that is held or waited
// for.
func (c *Client) Stats() Stats {
	s := c.keeper.stats(now())
	s.Backend, s.Waiting = c.traits.Backend, int(c.waiting.Load())
	return s
}

func (k *keeper) stats(at instant) (s Stats) {
	k.mu.Lock()
	defer k.mu.Unlock()
	s.FailedRenewals = k.failed
	for _, c := range k.claims {
		if _, granted := c.owner.(*hold); !granted {
			continue
		}
		if left := max(0, c.validUntil().sub(at)); s.Held == 0 || left < s.Validity {
			s.Validity = left
		}
		s.Held++
	}
	return s
}

// waits counts a call that waits, until the function that it returns is called.
func (c *Client) waits() (over func()) {
	c.waiting.Add(1)
	return func() { c.waiting.Add(-1) }
}
