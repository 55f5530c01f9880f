package holdfast

import (
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast/internal/boottime"
)

// An instant is a reading of the clock by which leases are judged. Only differences between two of them mean anything.
type instant time.Duration

func (t instant) add(d time.Duration) instant { return t + instant(d) }
func (t instant) sub(u instant) time.Duration { return time.Duration(t - u) }
func (t instant) time() time.Time             { return time.Now().Add(t.sub(now())) }

// now reads the clock of leases, which never goes back. Go's monotonic clock stands still while a machine is suspended,
// and the servers' clocks do not. So whatever CLOCK_BOOTTIME or the wall clock went ahead of it counts as time that has
// passed. A wall clock that is set forward looks like a virtual machine that was paused or restored, where
// CLOCK_BOOTTIME stands still, too: leases are then lost rather than held too long. One that is set back changes
// nothing. In a testing/synctest bubble it is the bubble's clock.
func now() instant {
	t := time.Now()
	if boottime.InBubble(t) {
		return instant(t.Sub(bubbleStart)) + instant(suspended.Load())
	}
	ran, ahead := since(started, t)
	if p := lapsed.Load(); p != nil && (ahead-p.ahead).Abs() < samePace {
		return instant(ran + p.unseen)
	}
	return look()
}

// clock is now for those who know no instants.
func clock() time.Duration { return time.Duration(now()) }

var (
	started     = time.Now()
	bubbleStart = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

	// suspended is for how long tests have the machine of their bubble suspended.
	suspended atomic.Int64
)

// since is how long Go's monotonic clock ran between two readings, and how far the wall clock went ahead of it.
func since(start, t time.Time) (ran, ahead time.Duration) {
	ran = t.Sub(start)
	return ran, time.Duration(t.UnixNano()-start.UnixNano()) - ran
}

// samePace is how far the wall clock and the monotonic clock may part before somebody looks why. They are read one
// after the other, so they never agree to the nanosecond.
const samePace = time.Millisecond

// A lapse is the time that has passed unseen by Go's monotonic clock, and how far other clocks were ahead of that clock
// when this was found out, since the start of this process.
type lapse struct {
	unseen time.Duration
	ahead  time.Duration // the wall clock
	slept  time.Duration // CLOCK_BOOTTIME, since the machine booted; always zero where there is none
}

var lapsed atomic.Pointer[lapse]

// after is the lapse when the clocks have gone ahead by so much. The wall clock may go back again, and counts anew
// when it goes forward once more.
func (p lapse) after(ahead, slept time.Duration) lapse {
	return lapse{unseen: p.unseen + max(ahead-p.ahead, slept-p.slept, 0), ahead: ahead, slept: slept}
}

// look reads all clocks. To ask the kernel for CLOCK_BOOTTIME takes as long as many other things that a lock needs
// together, so now does it only when the wall clock has left the monotonic one: a suspension always shows so.
func look() instant {
	for {
		p := lapsed.Load()
		ran, ahead, slept := clocks()
		next := &lapse{ahead: ahead, slept: slept}
		if p != nil {
			*next = p.after(ahead, slept)
		}
		if lapsed.CompareAndSwap(p, next) {
			return instant(ran + next.unseen)
		}
	}
}

// readings is how often clocks reads again when it was interrupted: a machine so busy that this does not do is
// unheard of.
const readings = 10

// clocks returns how long the monotonic clock ran and by how much the others are ahead, read without a pause in
// between, which would pass for a suspension and hide a later one.
func clocks() (ran, ahead, slept time.Duration) {
	for range readings {
		before := time.Now()
		boot, ok := boottime.Now()
		var took time.Duration
		ran, ahead = since(started, time.Now())
		if took = ran - before.Sub(started); ok {
			slept = boot - ran
		}
		if took < samePace/2 {
			break
		}
	}
	return ran, ahead, slept
}

// trustedUntil is the instant up to which a lease is valid: s + T - 1% T - max(50 ms, 2% T), where sent is the clock
// read just before sending the request that the server acknowledged last, and ttl what it granted. The server cannot
// have counted from earlier than sent, so nobody else is granted the lock before sent + ttl. One percent is for clocks
// that run at different rates, the rest for the time between looking at the clock and acting on it.
func trustedUntil(sent instant, ttl time.Duration) instant {
	return sent.add(ttl - ttl/100 - max(50*time.Millisecond, ttl/50))
}

// Pacing, as fractions of the TTL: several attempts to renew fit before the deadline.
const (
	renewAfter   = 3  // a renewal is due a third of the TTL after the last one was sent
	retryAfter   = 12 // and again a twelfth after one failed
	attemptTime  = 6  // an attempt is given up after a sixth, if that is not long
	leastToShare = 4  // a lease with less than a quarter left is not handed on locally
)

// Bounds of how long one request may take. However long leases live, a connection that died shows within seconds.
const (
	leastAttempt = 100 * time.Millisecond
	mostAttempt  = 3 * time.Second
)

// attemptLimit is how long one request may take before it is sent again.
func attemptLimit(ttl time.Duration) time.Duration {
	return min(max(ttl/attemptTime, leastAttempt), mostAttempt)
}
