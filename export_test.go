package holdfast

import (
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
