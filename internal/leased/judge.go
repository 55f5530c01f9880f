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
	lookAheadShared = 2*markEvery + 2
	lookAheadGrowth = 8 // each further reading is so much larger
)

func lookAhead(me Seat) int {
	if me.IsExclusive() {
		return lookAheadAlone
	}
	return lookAheadShared
}

// judge judges a claim by what a step has read of those ahead. Where that does not suffice, it reads more of them. It
// also returns what it has read in the end.
func (t *task) judge(name string, me Seat, o Outcome) (Verdict, []Seat, error) {
	ahead, complete := o.Ahead, o.Complete
	for n := lookAheadShared; ; n *= lookAheadGrowth {
		if v, ok := judge(me, ahead, complete); ok {
			return v, ahead, nil
		}
		o := t.ask(Step{Act: Look, Name: name, Token: me.Token, Ahead: n})
		if o.Err != nil {
			return Verdict{}, nil, o.Err
		}
		ahead, complete = o.Ahead, o.Complete
	}
}

// judge is [Judge] for a claim of which not all those ahead are known, which come newest first. complete says that none
// are left out. ok is false when more of them must be read.
func judge(me Seat, ahead []Seat, complete bool) (v Verdict, ok bool) {
	if complete {
		return judgeAll(me, ahead), true
	}
	if bounds, ok := addUp(me, ahead); ok && bounds.Fit() {
		return Verdict{Granted: true, Bounds: bounds}, true
	}
	return judgeSome(me, ahead)
}

// judgeAll knows all claims ahead.
func judgeAll(me Seat, ahead []Seat) Verdict {
	v, watch := Judge(me, ahead)
	if watch >= 0 {
		v.Watch = ahead[watch].Place
		v.Sure = v.Sure && !ahead[watch].Foreign // another library's claim may have begun to read in the same place
	}
	v.Few = len(ahead) <= lookAheadShared
	return v
}

// judgeSome knows only the newest claims ahead, and decides only what holds whatever the others are.
func judgeSome(me Seat, ahead []Seat) (v Verdict, ok bool) {
	if len(ahead) == 0 {
		return v, false
	}
	nearest, blocker := ahead[0], Blocker(me, ahead)
	switch {
	case blocker >= 0 && nearest.Fits != nil:
		return Verdict{Watch: ahead[blocker].Place, Retry: minRetry}, true
	case !certainlyWaits(ahead):
		return v, false
	case blocker >= 0:
		return Verdict{Watch: ahead[blocker].Place}, true
	default:
		return Verdict{Watch: nearest.Place, Until: ItsTurn}, true
	}
}

// minRetry is when to ask again where nobody knows when the first of the claims ahead expires.
const minRetry = time.Second

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
	return slices.ContainsFunc(newest, Seat.IsExclusive) || !AllGranted(newest)
}

// isWorthMarking reports whether a granted claim should note that in its seat: others wait behind it for that, or the
// next would have to read far.
func (d *Engine) isWorthMarking(o Outcome, ahead []Seat) bool {
	if o.Own.IsExclusive() || o.Own.Fits != nil {
		return false
	}
	nearest := nearestMark(ahead)
	if nearest < 0 {
		nearest = len(ahead)
	}
	return o.Behind || d.facts.Partial && nearest >= markEvery
}
