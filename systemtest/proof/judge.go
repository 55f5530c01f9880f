package proof

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/systemtest/history"
	"github.com/holdfast-go/holdfast/systemtest/nemesis"
)

// A Wrong is what must not have been.
type Wrong struct {
	Judge string // see [judges]
	Lock  string
	Text  string
}

func (w Wrong) String() string { return fmt.Sprintf("%s: %s: %s", w.Judge, w.Lock, w.Text) }

// judges look at a record. Each sees what others cannot.
var judges = map[string]func(Record) []Wrong{
	"exclusion":    Record.exclusion,   // nobody was inside together with whom the lock excludes
	"resource":     Record.resource,    // nothing was lost of what holders wrote
	"tokens":       Record.tokens,      // they are unique, and grow in the order of grants
	"answers":      Record.answers,     // they have an order in which a lock could have given them
	"own lock":     Record.ownLock,     // nobody was refused what it holds
	"maximum hold": Record.maximumHold, // nobody was inside for longer
	"kept":         Record.kept,        // nobody lost a lock without a reason
	"handed on":    Record.handedOn,    // a lock that ended was granted to who waited, within the bound
	"order":        Record.order,       // who came first was served first
	"nothing left": Record.nothingLeft, // of any lock, after all
	"bounds":       Record.bounds,      // on what a client keeps
}

// timely are the judges who ask what happened in time. On a machine that is busy with something else nobody can tell
// whether a lock is slow.
var timely = []string{"maximum hold", "kept", "handed on", "order"}

// Judge returns all that must not have been.
func (r Record) Judge() (wrongs []Wrong) {
	for name, judge := range judges {
		for _, w := range judge(r) {
			w.Judge = name
			wrongs = append(wrongs, w)
		}
	}
	slices.SortFunc(wrongs, func(a, b Wrong) int {
		return cmp.Or(cmp.Compare(a.Judge, b.Judge), cmp.Compare(a.Lock, b.Lock))
	})
	return wrongs
}

// eachLock asks a question about the history of each lock.
func (r Record) eachLock(ask func(lock string, h history.History) error) (wrongs []Wrong) {
	for lock, h := range r.histories() {
		if err := ask(lock, h); err != nil {
			wrongs = append(wrongs, Wrong{Lock: lock, Text: err.Error()})
		}
	}
	return wrongs
}

// promised is a visit as far as the docs promise that it excludes others: a holder whose claim was broken, or forgotten
// by the store, is told when it renews, so it counts as inside until then at most.
func (r Record) promised(v Visit) history.Visit {
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
		if r.forgets(s, v.Visit) && s.overlaps(Span{granted, v.Seen}) {
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

func (r Record) exclusion() []Wrong {
	return r.eachLock(func(_ string, h history.History) error { return h.Overlap() })
}

func (r Record) tokens() []Wrong {
	if slices.ContainsFunc(r.Struck, func(s Struck) bool { return s.Anew }) {
		return nil // as the docs say
	}
	return r.eachLock(func(lock string, h history.History) error {
		if limit(lock) != 1 {
			return nil // those that hold a lock together are granted it in any order
		}
		return h.Tokens()
	})
}

// resource replays what the resource of each lock saw: each write must count one on from the write before.
func (r Record) resource() (wrongs []Wrong) {
	values := make(map[string]int64)
	for _, t := range r.Touches {
		if !t.Write || t.Refused {
			continue
		}
		if t.Value != values[t.Lock]+1 {
			wrongs = append(wrongs, Wrong{Lock: t.Lock, Text: fmt.Sprintf(
				"at %v visitor %d with token %d wrote %d after %d: a write is lost", t.At, t.Visitor, t.Token, t.Value,
				values[t.Lock])})
		}
		values[t.Lock] = t.Value
	}
	return wrongs
}

// patience is how long the search for an order of answers may take.
const patience = 20 * time.Second

func (r Record) answers() []Wrong {
	if slices.ContainsFunc(r.Struck, func(s Struck) bool { return s.Harm == nemesis.Amnesia }) {
		return nil // a store that forgets is no lock
	}
	return r.eachLock(func(lock string, h history.History) error {
		for i := range h.Visits {
			v := &h.Visits[i]
			v.TTL += r.longer(Span{v.Call, max(v.Return, v.Left) + v.TTL})
		}
		err := h.Legal(patience)
		if errors.Is(err, history.ErrUndecided) || errors.Is(err, history.ErrTooMany) {
			return nil // nothing was shown
		}
		return err
	})
}

// longer is by how much a claim may outlive its TTL when a store fails: while it does, and a TTL after that, because
// some begin to count anew.
func (r Record) longer(s Span) (by time.Duration) {
	for _, blow := range r.Struck {
		if blow.Target == OnStore && blow.overlaps(s) {
			by += blow.To - blow.From + r.Schedule.TTL
		}
	}
	return by
}

// kept finds holders that lost their locks although the docs say that they keep them.
func (r Record) kept() (wrongs []Wrong) {
	for _, v := range r.Visits {
		if v.Outcome != history.Got || v.Ended != history.Lost || v.Cut {
			continue
		}
		_, broken := r.ended(v)
		announced := broken || v.overMost() || v.Gap >= v.TTL/4 // who did not look for so long may have been too late
		if !announced && !r.disturbed(v.Visit, Span{v.Return, v.Left}, nemesis.Outage) {
			wrongs = append(wrongs, Wrong{Lock: v.Lock, Text: fmt.Sprintf("%v, lost it without a reason", v.Visit)})
		}
	}
	return wrongs
}

// ownLock tells what visitors were answered that may never be.
func (r Record) ownLock() (wrongs []Wrong) {
	for _, v := range r.Visits {
		if v.Odd != "" {
			wrongs = append(wrongs, Wrong{Lock: v.Lock, Text: fmt.Sprintf("%v: %s", v.Visit, v.Odd)})
		}
	}
	return wrongs
}

// maximumHold finds holders who were inside for longer, though they looked at their leases.
func (r Record) maximumHold() (wrongs []Wrong) {
	for _, v := range r.Visits {
		slack := v.TTL / 4
		late := v.Outcome == history.Got && v.Most > 0 && v.Seen > v.Return+v.Most+slack
		if late && v.Gap < slack && !r.disturbed(v.Visit, Span{v.Return, v.Seen}, nemesis.Amnesia) {
			text := fmt.Sprintf("%v, for longer than %v", v.Visit, v.Most)
			wrongs = append(wrongs, Wrong{Lock: v.Lock, Text: text})
		}
	}
	return wrongs
}

// overMost reports whether a visit lasted for its maximum hold, which ends it.
func (v Visit) overMost() bool { return v.Most > 0 && v.Left-v.Call >= v.Most }

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
	for _, stalled := range r.Stalls {
		hers := stalled.Visitor == nobody || stalled.Visitor == visitor
		if hers && stalled.wider(ttl/4).overlaps(s) {
			return true
		}
	}
	return false
}

// handedOn finds mutexes that stood idle although somebody waited.
func (r Record) handedOn() (wrongs []Wrong) {
	for lock, visits := range r.mutexes() {
		for i, v := range visits {
			if !v.waited() {
				continue
			}
			bound := v.TTL/2 + time.Second
			if r.Voted {
				bound += v.TTL
			}
			idle := Span{v.Call, v.Return}
			for j, other := range visits {
				if i != j && other.Call <= v.Return {
					idle.From = max(idle.From, min(r.over(other.Visit), v.Return))
				}
			}
			if idle.To-idle.From > bound && !r.disturbed(v.Visit, idle, nemesis.Nothing) {
				text := fmt.Sprintf("%v, waited, and the lock stood idle for %v", v.Visit, idle.To-idle.From)
				wrongs = append(wrongs, Wrong{Lock: lock, Text: text})
			}
		}
	}
	return wrongs
}

// over is when nothing of a visit can be in the way of others any more.
func (r Record) over(v history.Visit) time.Duration {
	switch {
	case v.Outcome == history.Taken:
		return v.Return
	case v.Outcome == history.Got && v.Ended == history.Released:
		return v.Left
	default:
		return max(v.Return, v.Left) + v.TTL + v.TTL/4
	}
}

// waited reports whether a visitor got in that waited for this lock since its call.
func (v Visit) waited() bool { return v.Outcome == history.Got && !v.Try && !v.Together }

// mutexes are the visits of each mutex, by their calls.
func (r Record) mutexes() map[string][]Visit {
	all := make(map[string][]Visit)
	for _, v := range r.Visits {
		if limit(v.Lock) == 1 {
			v.Visit = r.lasting(v)
			all[v.Lock] = append(all[v.Lock], v)
		}
	}
	for _, visits := range all {
		slices.SortFunc(visits, func(a, b Visit) int { return cmp.Compare(a.Call, b.Call) })
	}
	return all
}

// order finds visitors of mutexes that were let in although others had waited for longer.
func (r Record) order() (wrongs []Wrong) {
	if r.Voted || r.Session {
		return nil
	}
	settled := r.Schedule.TTL / 4 // after which a request surely is in the queue
	for lock, visits := range r.mutexes() {
		for i, first := range visits {
			if !first.waited() {
				continue
			}
			for _, v := range visits[i+1:] {
				overtook := v.Outcome == history.Got && v.Call > first.Call+settled && v.Return < first.Return
				if overtook && !r.disturbed(first.Visit, Span{first.Call, v.Return}, nemesis.Nothing) {
					text := fmt.Sprintf("%v, came at %v, after %v, who came at %v", v.Visit, v.Call, first.Visit,
						first.Call)
					wrongs = append(wrongs, Wrong{Lock: lock, Text: text})
				}
			}
		}
	}
	return wrongs
}

func (r Record) nothingLeft() (wrongs []Wrong) {
	for lock, what := range r.Left {
		wrongs = append(wrongs, Wrong{Lock: lock, Text: what})
	}
	return wrongs
}

// most is what a process may have after its client was closed. A client of Go's library for gRPC has the most.
var most = End{Goroutines: 16, Heap: 32 << 20, Descriptors: 32}

func (r Record) bounds() (wrongs []Wrong) {
	for _, e := range r.Ends {
		if r.disturbed(history.Visit{Visitor: e.Visitor, TTL: r.Schedule.TTL}, Span{e.At, e.At}, nemesis.Outage) {
			continue // requests to a store that does not answer outlive Close, for a while
		}
		if e.Goroutines > most.Goroutines || e.Heap > most.Heap || e.Descriptors > most.Descriptors {
			wrongs = append(wrongs, Wrong{Lock: "all", Text: fmt.Sprintf("a client was closed, and left %+v", e)})
		}
	}
	return wrongs
}
