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
	"exclusion":    Record.exclusion,    // nobody was inside together with whom the lock excludes
	"resource":     Record.resource,     // nothing was lost of what holders wrote
	"tokens":       Record.tokens,       // they are unique, and grow in the order of grants
	"answers":      Record.answers,      // they have an order in which a lock could have given them
	"own lock":     Record.ownLock,      // nobody was refused what it holds
	"maximum hold": Record.maximumHold,  // nobody was inside for longer
	"kept":         Record.kept,         // nobody lost a lock without a reason
	"handed on":    Record.handedOn,     // a lock that ended was granted to who waited, within the bound
	"order":        Record.order,        // who came first was served first
	"transactions": Record.transactions, // one that was committed saw all that were before it
	"nothing left": Record.nothingLeft,  // of any lock, after all
	"bounds":       Record.bounds,       // on what a client keeps
	"traffic":      Record.traffic,      // no more was sent to a visitor than its claims need
}

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

// eachLock asks a question about the history of each lock, as far as these visits are that.
func (r Record) eachLock(visits []Visit, ask func(lock string, h history.History) error) (wrongs []Wrong) {
	for lock, h := range r.histories(visits) {
		if err := ask(lock, h); err != nil {
			wrongs = append(wrongs, Wrong{Lock: lock, Text: err.Error()})
		}
	}
	return wrongs
}

func (r Record) exclusion() []Wrong {
	wrongs := r.eachLock(r.Visits, func(_ string, h history.History) error { return h.Overlap() })
	return append(wrongs, r.besides()...)
}

func (r Record) tokens() []Wrong {
	if r.beginsAnew() {
		return nil
	}
	return r.eachLock(r.ours(), func(lock string, h history.History) error {
		for _, v := range h.Visits {
			if before := r.Before[lock]; v.Outcome == history.Got && v.Token <= before {
				return fmt.Errorf("%v, and in an earlier run somebody had token %d", v, before)
			}
		}
		if limit(lock) != 1 {
			return h.Unique()
		}
		return h.Tokens()
	})
}

// beginsAnew reports whether tokens did, as the docs say.
func (r Record) beginsAnew() bool {
	return slices.ContainsFunc(r.Struck, func(s Struck) bool { return s.Anew })
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
	return r.eachLock(r.explained(), func(lock string, h history.History) error {
		for i := range h.Visits {
			v := &h.Visits[i]
			v.Unheard = v.Outcome == history.Got && v.Return-v.Call > v.TTL
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

// ownLock tells what visitors were answered that may never be.
func (r Record) ownLock() (wrongs []Wrong) {
	for _, v := range r.Visits {
		if v.Odd != "" {
			wrongs = append(wrongs, Wrong{Lock: v.Lock, Text: fmt.Sprintf("%v: %s", v.Visit, v.Odd)})
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
