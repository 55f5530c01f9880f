package holdfast

import "time"

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
