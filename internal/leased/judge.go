package leased

import (
	"slices"
	"time"
)

// markEvery is how many granted claims may follow one that notes its bounds, so that a claim behind them can be
// judged by reading no more than these.
const markEvery = 16

// How many of the newest claims ahead are read at first. For one that shares with nobody its predecessor decides. The
// others find, among so many, one that noted its bounds.
const (
	lookAheadAlone  = 1
	LookAheadShared = 2*markEvery + 2
	LookAheadGrowth = 8 // each further reading is so much larger
)

// LookAhead is how many are to be read for a claim at first.
func LookAhead(me Seat) int64 {
	if me.IsExclusive() {
		return lookAheadAlone
	}
	return LookAheadShared
}

// JudgeNewest is [Judge] for a claim of which only the newest ahead are known, newest first. complete says that none
// are left out. ok is false when more of them must be read.
func JudgeNewest(me Seat, ahead []Seat, complete bool) (v Verdict, ok bool) {
	if complete {
		v = Judge(me, ahead)
		v.Few = len(ahead) <= LookAheadShared
		return v, true
	}
	if bounds, ok := addUp(me, ahead); ok && bounds.Fit() {
		return Verdict{Granted: true, Bounds: bounds}, true
	}
	return judgeSome(me, ahead)
}

// judgeSome knows only the newest claims ahead, and decides only what holds whatever the others are.
func judgeSome(me Seat, ahead []Seat) (v Verdict, ok bool) {
	if len(ahead) == 0 {
		return v, false
	}
	nearest, at := ahead[0], blocker(me, ahead)
	switch {
	case at >= 0 && nearest.Fits != nil:
		return Verdict{Watch: ahead[at].Place, Retry: MinRetry}, true
	case !certainlyWaits(ahead):
		return v, false
	case at >= 0:
		return Verdict{Watch: ahead[at].Place}, true
	default:
		return Verdict{Watch: nearest.Place, Until: ItsTurn}, true
	}
}

// MinRetry is when to ask again where nobody knows when the first of the claims ahead expires.
const MinRetry = time.Second

// addUp adds the claim to the bounds that the nearest claim ahead noted, and to those between; ok is false when none of
// them has.
func addUp(me Seat, ahead []Seat) (bounds Bounds, ok bool) {
	marked := nearestMark(ahead)
	if marked < 0 {
		return bounds, false
	}
	bounds = *ahead[marked].Fits
	for _, s := range slices.Backward(ahead[:marked]) {
		bounds = bounds.Add(s)
	}
	return bounds.Add(me), true
}

// nearestMark is the place of the newest claim that noted its bounds, or -1.
func nearestMark(ahead []Seat) int {
	return slices.IndexFunc(ahead, func(s Seat) bool { return s.Fits != nil })
}

// certainlyWaits reports whether the newest of these claims waits, others being ahead of them.
func certainlyWaits(newest []Seat) bool {
	return slices.ContainsFunc(newest, Seat.IsExclusive) || !allGranted(newest)
}

// IsWorthMarking reports whether a granted claim should note its bounds: others wait behind it for that, or the next
// would have to read far.
func IsWorthMarking(me Seat, ahead []Seat, behind bool) bool {
	if me.IsExclusive() || me.Fits != nil {
		return false
	}
	nearest := nearestMark(ahead)
	if nearest < 0 {
		nearest = len(ahead)
	}
	return behind || nearest >= markEvery
}
