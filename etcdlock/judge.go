package etcdlock

import (
	"math"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// A verdict is what follows for a claim from the claims ahead of it.
type verdict struct {
	granted bool
	fits    fit           // when granted: the bounds that a claim behind it may start from
	retry   time.Duration // for the next in line
	watch   string        // when not granted: the key to watch
	until   event         // for this to happen there
	sure    bool          // then the claim is granted, and need not be read again
}

// An event is what a waiting claim waits for.
type event int

const (
	itsEnd  event = iota // the key is gone
	itsTurn              // the key is gone, or its claim is granted
	anyEnd               // a key of the queue is gone
)

// markEvery is how many granted claims may follow one that notes its bounds, so that a claim behind them can be judged
// by reading no more than these.
const markEvery = 16

// judge applies the rule of [driver.Granted] to a claim and those ahead of it, newest first. complete says that none
// are left out. ok is false when more of them must be read.
//
// A claim whose weight does not fit together with that of one single claim ahead waits for the end of that one, the
// nearest such. So a mutex waits for its predecessor, a reader for the last writer ahead, and the end of a claim wakes
// whom it makes grantable. Where only the sum does not fit, the oldest waiting claim watches the whole queue, and the
// others wait until the claim just ahead is granted.
func judge(me seat, ahead []seat, complete bool) (v verdict, ok bool) {
	if complete {
		return judgeAll(me, ahead), true
	}
	if bounds, ok := addUp(me, ahead, fit{}, false); ok && bounds.Sum <= bounds.Limit {
		return verdict{granted: true, fits: bounds}, true
	}
	return judgeSome(me, ahead)
}

// judgeAll knows all claims ahead.
func judgeAll(me seat, ahead []seat) verdict {
	all, _ := addUp(me, ahead, fit{Limit: driver.All}, true)
	if all.Sum <= all.Limit {
		return verdict{granted: true, fits: all}
	}
	v := verdict{}
	next := isGranted(ahead)
	if next {
		v.retry = soonest(ahead)
	}
	switch blocker := blocker(me, ahead); {
	case blocker >= 0:
		v.watch, v.until = ahead[blocker].key, itsEnd
		v.sure = len(ahead) == 1 && me.exclusive() // one that shares reads who is behind it, and notes its bounds for them
	case next:
		v.until = anyEnd
	default:
		v.watch, v.until = ahead[0].key, itsTurn
	}
	return v
}

// judgeSome knows only the newest claims ahead, and decides only what holds whatever the others are.
func judgeSome(me seat, ahead []seat) (v verdict, ok bool) {
	if len(ahead) == 0 {
		return v, false
	}
	nearest := ahead[0]
	blocker := blocker(me, ahead)
	switch {
	case blocker >= 0 && nearest.Fits != nil:
		return verdict{watch: ahead[blocker].key, retry: minRetry}, true
	case !certainlyWaits(ahead):
		return v, false
	case blocker >= 0:
		return verdict{watch: ahead[blocker].key}, true
	default:
		return verdict{watch: nearest.key, until: itsTurn}, true
	}
}

// minRetry is when to ask again where nobody knows when the first of the claims ahead expires.
const minRetry = time.Second

// addUp adds the claim to the bounds of those ahead. It starts at the oldest, or, unless all are known, at the nearest
// claim that noted its bounds; ok is false when there is none.
func addUp(me seat, ahead []seat, b fit, all bool) (bounds fit, ok bool) {
	oldest := len(ahead)
	if !all {
		if oldest = nearestMark(ahead); oldest < 0 {
			return b, false
		}
		b = *ahead[oldest].Fits
	}
	for i := oldest - 1; i >= 0; i-- {
		b = b.add(ahead[i].record)
	}
	return b.add(me.record), true
}

func (b fit) add(r record) fit { return fit{Sum: b.Sum + r.Weight, Limit: min(b.Limit, r.Limit)} }

// nearestMark is the place of the newest claim that noted its bounds, or -1.
func nearestMark(ahead []seat) int {
	for i, s := range ahead {
		if s.Fits != nil {
			return i
		}
	}
	return -1
}

// blocker is the place of the newest claim that does not fit together with this one, or -1.
func blocker(me seat, ahead []seat) int {
	for i, s := range ahead {
		if s.Weight+me.Weight > min(s.Limit, me.Limit) {
			return i
		}
	}
	return -1
}

// isGranted reports whether all of these claims are granted, none being ahead of them.
func isGranted(all []seat) bool {
	b := fit{Limit: driver.All}
	for i := len(all) - 1; i >= 0; i-- {
		if b = b.add(all[i].record); b.Sum > b.Limit {
			return false
		}
	}
	return true
}

// certainlyWaits reports whether the newest of these claims waits, others being ahead of them.
func certainlyWaits(newest []seat) bool {
	for _, s := range newest {
		if s.exclusive() {
			return true
		}
	}
	return !isGranted(newest)
}

// soonest is when the first of these claims may expire.
func soonest(seats []seat) time.Duration {
	first := time.Duration(math.MaxInt64)
	for _, s := range seats {
		first = min(first, s.ttl())
	}
	return max(first, 1)
}

// ttl is how long the claim lives at most unless it is renewed. Of a peer's claim that is not known.
func (s seat) ttl() time.Duration {
	if s.TTL == 0 {
		return minRetry
	}
	return time.Duration(s.TTL) * time.Millisecond
}
