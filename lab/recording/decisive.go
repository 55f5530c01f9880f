package recording

// Decisive is the moment at which a run shows what it has to show, and a period around it that is worth a closer look:
// the first write that came too late, whether it was accepted or refused, or else the first time at which two believed
// to hold the lock. Without any of these there is none.
func (r Run) Decisive() (at Event, around Period, ok bool) {
	for _, kind := range []Kind{Corrupted, Refused} {
		for _, e := range r.Events {
			if e.Kind == kind {
				return e, r.around(e.From, e.From), true
			}
		}
	}
	overlaps := r.Overlaps()
	if len(overlaps) == 0 {
		return at, around, false
	}
	first := overlaps[0]
	at = Event{Kind: Holds, Text: "two believe to hold the lock", From: first.From, To: first.To}
	return at, r.around(first.From, first.To), true
}

// around is a period and what happened next before and after it, but no more than a fourth of the run, so that it is
// larger where it is shown by itself.
func (r Run) around(from, to float64) Period {
	most, least := r.Length/4, r.Length/100
	before, after := 0.0, r.Length
	for _, at := range r.moments() {
		if at < from {
			before = max(before, at)
		}
		if at > to {
			after = min(after, at)
		}
	}
	wide := min(most, max(least, 1.3*(after-before)))
	left := (before+after)/2 - wide/2
	if wide == most { // not all of it fits: what matters is how it begins
		left = from - wide/3
	}
	left = max(0, min(left, r.Length-wide))
	return Period{left, left + wide}
}
