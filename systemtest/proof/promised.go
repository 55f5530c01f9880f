package proof

import (
	"time"

	"github.com/holdfast-go/holdfast/systemtest/history"
	"github.com/holdfast-go/holdfast/systemtest/nemesis"
)

// promised is a visit as far as the docs promise that it excludes others: a holder whose claim was broken, or forgotten
// by the store, is told when it renews, so it counts as inside until then at most.
func (r Record) promised(v Visit) history.Visit {
	if v.Foreign {
		return r.beside(v)
	}
	v.Visit = r.lasting(v)
	switch end, ok := r.ended(v); {
	case !ok || v.Outcome != history.Got || v.Seen <= end:
	case end < v.Return: // its client has learnt of a grant that was over
		v.Outcome = history.GaveUp
	default:
		v.Seen, v.Ended = end, history.Lost
	}
	return v.Visit
}

// lasting is a visit as others may see it: after a release that was asked for before its minimum hold was over, its
// lock stays taken for that, unless something happened to its visitor, and is free some time later. The rest of the
// hold counts from when the release arrived, which may be after its end.
func (r Record) lasting(v Visit) history.Visit {
	if v.Outcome != history.Got || v.Ended != history.Released {
		return v.Visit
	}
	if after := r.stillTaken(v); after > 0 {
		v.Left, v.Ended = v.Left+after, history.Unclear
		return v.Visit
	}
	if v.Leave >= v.Return+v.Least {
		return v.Visit
	}
	if !r.disturbed(v.Visit, Span{v.Return, v.Return + v.Least}, nemesis.Outage) {
		granted := max(v.Call, v.Return-v.TTL/4) // or later: the client counts from when it knew
		v.Seen = max(v.Seen, granted+v.Least)
	}
	v.Left, v.Ended = max(v.Left, v.Return+v.Least), history.Unclear
	return v.Visit
}

// stillTaken is for how long a lock may stay taken after its release: while it is kept for reuse, or given back later,
// and for the rest of its TTL if something happened to its visitor meanwhile.
func (r Record) stillTaken(v Visit) (most time.Duration) {
	most = v.Reuse
	if v.Later {
		most += v.TTL / 4
	}
	if most > 0 && r.disturbed(v.Visit, Span{v.Leave, v.Left + most}, nemesis.Nothing) {
		most += 2 * v.TTL
	}
	return most
}

// ended is when somebody else ended a visit's claim, or the store forgot it; ok is false if neither happened.
func (r Record) ended(v Visit) (at time.Duration, ok bool) {
	for _, b := range r.Breaks {
		if b.Lock == v.Lock && b.hit(v.Visit) {
			return b.Call, true
		}
	}
	granted := v.Return
	if v.Together { // or before: it waited for other locks then
		granted = v.Call
	}
	for _, s := range r.Struck {
		if r.forgets(s, v.Visit) && r.costly(s, v.Visit).overlaps(Span{granted, v.Seen}) {
			return s.From, true
		}
	}
	return 0, false
}

// hit reports whether it was a visit's claim that somebody broke. One that was seen waiting has no token, and may have
// been granted before it was broken, which its client may have learnt a while later.
func (b Breaking) hit(v history.Visit) bool {
	if b.Token == 0 {
		return v.Call <= b.Return && b.Call <= v.Return && v.Return <= b.Return+v.TTL/4
	}
	return b.Token == v.Token && v.Call <= b.Return && b.Call <= max(v.Left, v.Seen)
}

// forgets reports whether what struck a store may have cost it a visit's claim, or what struck the visitor's
// connection, where that is the claim.
func (r Record) forgets(s Struck, v history.Visit) bool {
	if r.Session && s.Target == OnLine && s.Number == v.Visitor {
		return true
	}
	return s.Harm == nemesis.Amnesia || s.Young && v.Return > s.From-v.TTL
}

// costly is while what struck a store may cost it a visit's claim. When it has fallen, all is forgotten that was
// granted before, and nothing of what comes; only a visitor who was held up may be told later of a grant before. What
// strikes a line may do so again and again.
func (r Record) costly(s Struck, v history.Visit) Span {
	if s.Target != OnStore || r.disturbed(v, s.Span, unheardOf) {
		return s.Span
	}
	return Span{s.From, min(s.To, s.Fell+v.TTL/4)}
}

// unheardOf is more harm than what befalls a store may do.
const unheardOf = nemesis.Amnesia + 1

// disturbed reports whether something happened to a visitor, to its line, to the machine, or to the store with this
// harm at least, in a span or a TTL before.
func (r Record) disturbed(v history.Visit, s Span, harm nemesis.Harm) bool {
	ttl, visitor := v.TTL, v.Visitor
	for _, b := range r.Struck {
		hers := b.Target != OnStore && b.Number == visitor || b.Target == OnStore && b.Harm >= harm
		if hers && b.wider(ttl).overlaps(s) {
			return true
		}
	}
	return r.stoodStill(v, s)
}

// stoodStill reports whether a visitor or the machine did not run in a span, or shortly before.
func (r Record) stoodStill(v history.Visit, s Span) bool {
	for _, stalled := range r.Stalls {
		hers := stalled.Visitor == nobody || stalled.Visitor == v.Visitor
		if hers && stalled.wider(v.TTL/4).overlaps(s) {
			return true
		}
	}
	return false
}
