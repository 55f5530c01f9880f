package etcdlock

import (
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/internal/leased"
)

// markEvery is how many granted claims may follow one that notes its bounds, so that a claim behind them can be
// judged by reading no more than these.
const markEvery = 16

// judge is [leased.Judge] for a claim of which not all those ahead are known, which come newest first. complete
// says that none are left out. ok is false when more of them must be read.
func judge(me seat, ahead []seat, complete bool) (v leased.Verdict, ok bool) {
	if complete {
		v = judgeAll(me, ahead)
		v.Few = len(ahead) <= lookAheadShared
		return v, true
	}
	if bounds, ok := addUp(me, ahead); ok && bounds.Fit() {
		return leased.Verdict{Granted: true, Bounds: bounds}, true
	}
	return judgeSome(me, ahead)
}

// judgeAll knows all claims ahead.
func judgeAll(me seat, ahead []seat) leased.Verdict {
	v, watch := leased.Judge(me.seat(), leasedSeats(ahead))
	if watch >= 0 {
		v.Watch = ahead[watch].key
	}
	return v
}

// seat is what others must know of a claim to judge theirs.
func (s seat) seat() leased.Seat {
	return leased.Seat{Weight: s.Weight, Limit: s.Limit, TTL: s.ttl(), Silent: s.peer}
}

func (r record) seat() leased.Seat { return leased.Seat{Weight: r.Weight, Limit: r.Limit} }

func leasedSeats(all []seat) []leased.Seat {
	seats := make([]leased.Seat, len(all))
	for i, s := range all {
		seats[i] = s.seat()
	}
	return seats
}

// judgeSome knows only the newest claims ahead, and decides only what holds whatever the others are.
func judgeSome(me seat, ahead []seat) (v leased.Verdict, ok bool) {
	if len(ahead) == 0 {
		return v, false
	}
	nearest := ahead[0]
	seats := leasedSeats(ahead)
	blocker := leased.Blocker(me.seat(), seats)
	switch {
	case blocker >= 0 && nearest.Fits != nil:
		return leased.Verdict{Watch: ahead[blocker].key, Retry: minRetry}, true
	case !certainlyWaits(seats):
		return v, false
	case blocker >= 0:
		return leased.Verdict{Watch: ahead[blocker].key}, true
	default:
		return leased.Verdict{Watch: nearest.key, Until: leased.ItsTurn}, true
	}
}

// minRetry is when to ask again where nobody knows when the first of the claims ahead expires.
const minRetry = time.Second

// addUp adds the claim to the bounds that the nearest claim ahead noted, and to those between; ok is false when
// none of them has.
func addUp(me seat, ahead []seat) (bounds leased.Bounds, ok bool) {
	marked := nearestMark(ahead)
	if marked < 0 {
		return bounds, false
	}
	bounds = *ahead[marked].Fits
	for _, s := range slices.Backward(ahead[:marked]) {
		bounds = bounds.Add(s.seat())
	}
	return bounds.Add(me.seat()), true
}

// nearestMark is the place of the newest claim that noted its bounds, or -1.
func nearestMark(ahead []seat) int {
	for i, s := range ahead {
		if s.Fits != nil {
			return i
		}
	}
	return -1
}

// certainlyWaits reports whether the newest of these claims waits, others being ahead of them.
func certainlyWaits(newest []leased.Seat) bool {
	for _, s := range newest {
		if s.IsExclusive() {
			return true
		}
	}
	return !leased.AllGranted(newest)
}

// ttl is how long the claim lives at most unless it is renewed. Of a peer's claim that is not known.
func (s seat) ttl() time.Duration {
	if s.TTL == 0 {
		return minRetry
	}
	return time.Duration(s.TTL) * time.Millisecond
}
