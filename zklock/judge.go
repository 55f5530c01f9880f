package zklock

import (
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// A verdict is what follows for a claim from the claims ahead of it.
type verdict struct {
	granted bool
	retry   time.Duration // for the next in line
	watch   seat          // when not granted: the claim to watch
	until   event         // for this to happen to it
	sure    bool          // then the claim is granted, and need not look again
}

// An event is what a waiting claim waits for.
type event int

const (
	itsEnd  event = iota // the claim is gone
	itsTurn              // it is gone, or granted
	anyEnd               // any claim of the queue is gone
)

// judge applies the rule of [driver.Granted] to a claim and those ahead of it, oldest first.
//
// A claim whose weight does not fit together with that of one single claim ahead waits for the end of that one, the
// nearest such. So a mutex waits for its predecessor, a reader for the last writer ahead, and the end of a claim wakes
// whom it makes grantable. Where only the sum does not fit, the oldest waiting claim watches the whole queue, and the
// others wait until the claim just ahead is granted. Peers do not say when they are.
func judge(me seat, ahead []seat) (v verdict) {
	if fits(append(ahead[:len(ahead):len(ahead)], me)) {
		return verdict{granted: true}
	}
	next := fits(ahead)
	if next {
		v.retry = soonest(ahead)
	}
	nearest := ahead[len(ahead)-1]
	switch blocker := blocker(me, ahead); {
	case blocker >= 0:
		v.watch, v.until = ahead[blocker], itsEnd
		v.sure = len(ahead) == 1 && me.exclusive()
	case next || nearest.peer:
		v.until = anyEnd
	default:
		v.watch, v.until = nearest, itsTurn
	}
	return v
}

// fits reports whether all of these claims are granted, none being ahead of them.
func fits(all []seat) bool {
	sum, limit := int64(0), int64(driver.All)
	for _, s := range all {
		sum, limit = sum+s.weight, min(limit, s.limit)
		if sum > limit {
			return false
		}
	}
	return true
}

// blocker is the place of the nearest claim ahead that does not fit together with this one, or -1.
func blocker(me seat, ahead []seat) int {
	for i := len(ahead) - 1; i >= 0; i-- {
		if ahead[i].weight+me.weight > min(ahead[i].limit, me.limit) {
			return i
		}
	}
	return -1
}

// peerRetry is when to ask again where only peers are ahead, of whom nobody knows when they expire. The server tells of
// their end anyway.
const peerRetry = 5 * time.Second

// soonest is when the first of these claims may expire.
func soonest(seats []seat) time.Duration {
	first := peerRetry
	for i, s := range seats {
		if !s.peer && (i == 0 || s.ttl < first) {
			first = s.ttl
		}
	}
	return max(first, 1)
}
