package holdfast

import (
	"runtime"
	"testing"
	"time"
)

// Suspend lets the clock of leases jump ahead, as after a suspension of the machine: no timer of Go's notices. It is
// for bubbles, and holds until the test ends.
func Suspend(t testing.TB, d time.Duration) {
	suspended.Add(int64(d))
	t.Cleanup(func() { suspended.Add(-int64(d)) })
}

// EndHold does the first half of losing a lease: its hold grants no more, and nobody is told yet.
func EndHold(l *Lease) { l.grant.hold.end() }

// LoseAtGate has the next hold of the client lost before it comes to its gate. It is to be called while a driver is
// asked, and the test must have called nothing else of the client.
func LoseAtGate(c *Client) {
	c.gates.mu.Lock()
	go func() {
		defer c.gates.mu.Unlock()
		for len(c.keeper.holds()) == 0 {
			runtime.Gosched()
		}
		for _, h := range c.keeper.holds() {
			h.discard()
		}
	}()
}

// Expected is of how many claims and queues the client expects to be told something.
func Expected(c *Client) int {
	c.inbox.mu.Lock()
	defer c.inbox.mu.Unlock()
	return len(c.inbox.claims) + len(c.inbox.queues)
}
