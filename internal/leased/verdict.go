package leased

import (
	"math"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// A Verdict is what follows for a claim from the claims ahead of it.
type Verdict struct {
	Granted bool
	Bounds  Bounds        // when granted: those that a claim behind it may start from
	Retry   time.Duration // for the next in line: when the first of those ahead may expire
	Watch   string        // when not granted: what the driver watches; empty for the whole queue
	Until   Event         // for this to happen there
	Sure    bool          // then the claim is granted, and need not be read again
	Second  string        // the place ahead of the one that is watched, at whose end a look may find that it is Sure
	Few     bool          // few are ahead, so few claims of a queue have this; noted by drivers to which it matters
}

// An Event is what a waiting claim waits for.
type Event int

const (
	ItsEnd  Event = iota // the claim that is watched is gone
	ItsTurn              // it is gone, or granted
	AnyEnd               // any claim of the queue is gone
)

// Bounds are the sum of the weights, and the smallest limit, of a claim and all those ahead of it. Once a claim is
// granted nothing is ever put in ahead of it, so its sum can only become less and its limit greater.
type Bounds struct {
	Sum   int64 `json:"sum"`
	Limit int64 `json:"limit"`
}

// NoBounds are those of no claims. The zero Bounds are not known.
func NoBounds() Bounds { return Bounds{Limit: driver.All} }

// Add returns the bounds of one claim more.
func (b Bounds) Add(s Seat) Bounds {
	return Bounds{Sum: b.Sum + s.Weight, Limit: min(b.Limit, s.Limit)}
}

// Fit reports whether a claim with these bounds is granted.
func (b Bounds) Fit() bool { return b.Sum <= b.Limit }

// A Seat is a claim in the queue, as far as others must know it to be judged.
type Seat struct {
	Weight, Limit int64
	TTL           time.Duration // how long it lives at most unless it is renewed
	Silent        bool          // it does not say when it is granted
	Fits          *Bounds       // it says that it is granted, with these bounds; nil: it has not said so
	Place         string        // what is watched to see its end
}

// IsExclusive reports whether the claim shares the lock with nobody.
func (s Seat) IsExclusive() bool { return s.Weight == s.Limit }

// Judge applies the rule of [driver.Granted] to a claim and all those ahead of it, newest first.
//
// A claim whose weight does not fit together with that of one single claim ahead waits for the end of that one,
// the nearest such. So a mutex waits for its predecessor, a reader for the last writer ahead, and the end of a
// claim wakes whom it makes grantable. Where only the sum does not fit, the oldest waiting claim watches the whole
// queue, and the others wait until the claim just ahead is granted. Where that one does not say so, they watch the
// whole queue too.
func Judge(me Seat, ahead []Seat) (v Verdict) {
	if all := sum(ahead).Add(me); all.Fit() {
		return Verdict{Granted: true, Bounds: all}
	}
	next := allGranted(ahead)
	if next {
		v.Retry = soonest(ahead)
	}
	switch at := blocker(me, ahead); {
	case at >= 0:
		v.Sure = len(ahead) == 1 && me.IsExclusive() // one that shares must read who is behind it, and tell them
		v.Watch, v.Second = ahead[at].Place, second(me, ahead)
	case next || ahead[0].Silent:
		v.Until = AnyEnd
	default:
		v.Watch, v.Until = ahead[0].Place, ItsTurn
	}
	return v
}

// second is the place of the second claim ahead of one that takes its turns with both, and empty for all others. When
// that claim ends the first is granted, so there is time for a look until the first ends, too.
func second(me Seat, ahead []Seat) string {
	if len(ahead) < 2 || !me.IsExclusive() || !ahead[0].IsExclusive() || !ahead[1].IsExclusive() || ahead[0].Silent {
		return ""
	}
	return ahead[1].Place
}

// sum returns the bounds of these claims, none being ahead of them.
func sum(all []Seat) Bounds {
	b := NoBounds()
	for _, s := range all {
		b = b.Add(s)
	}
	return b
}

// allGranted reports whether all of these claims are granted, none being ahead of them: so if the newest is,
// because the bounds of a claim fit only if those of each one ahead do.
func allGranted(all []Seat) bool { return sum(all).Fit() }

// blocker is the place of the nearest claim ahead, these being newest first, that does not fit together with this
// one; -1 when there is none.
func blocker(me Seat, ahead []Seat) int {
	for i, s := range ahead {
		if s.Weight+me.Weight > min(s.Limit, me.Limit) {
			return i
		}
	}
	return -1
}

// soonest is when the first of these claims may expire. It is never zero, which would mean that nobody asks again.
func soonest(seats []Seat) time.Duration {
	first := time.Duration(math.MaxInt64)
	for _, s := range seats {
		first = min(first, s.TTL)
	}
	return max(first, 1)
}
