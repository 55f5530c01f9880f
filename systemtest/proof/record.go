package proof

import (
	"cmp"
	"encoding/json"
	"io"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/systemtest/history"
	"github.com/holdfast-go/holdfast/systemtest/nemesis"
)

// A Record is what was seen in a run. Times are since its beginning.
type Record struct {
	Schedule Schedule
	Voted    bool // see [nemesis.Store]
	Session  bool // the same
	Unruly   bool // the same
	Lists    bool // the same
	Swept    bool // the same

	Before map[string]uint64 // the greatest token of each lock in earlier runs, as far as later ones must be greater

	Visits  []Visit
	Breaks  []Breaking
	Revoked []Breaking // requests to let go, which have no token
	Struck  []Struck
	Counts  []Count
	Counted map[string]int64 // what was counted in transactions, by their lock, after all
	Many    []Many
	Answers []int64 // bytes that servers sent to each visitor; nil where that is not known
	Touches []Touch // of the resources, one behind each lock, in the order in which these saw them
	Stalls  []Stall
	Ends    []End
	Left    map[string]string // what is left of locks long after the end
}

// A Visit is an attempt to be inside, as its visitor saw it.
type Visit struct {
	history.Visit
	Lock    string
	Life    int           // of the visitor: it is another process after each death
	Gap     time.Duration // the longest between two looks at the lease
	Cut     bool          // the visitor was killed before it told how the visit ended
	Revoked bool          // the holder was asked to let go, and did

	Together bool          // the visitor asked for other locks first: since when it asks for this one is not known
	Least    time.Duration // the minimum hold
	Most     time.Duration // the maximum hold
	Reuse    time.Duration // for how long it is kept after the release
	Later    bool          // the release was not waited for
	Odd      string        // what the visitor was answered, and never may be

	Foreign bool   // a program of others was inside, and its visitor told what that did
	Said    string // its last words, if they were not those that were wanted
}

// A Breaking is the end of a claim by somebody else.
type Breaking struct {
	Lock         string
	Token        uint64        // zero if it waited
	Call, Return time.Duration // the look at the queue is part of it
}

// A Span is a while.
type Span struct{ From, To time.Duration }

// A Stall is a while in which a process that had something to do did not run.
type Stall struct {
	Visitor int // whose process it was; nobody's if it was that of the test
	Span
}

// nobody is who the process of the test belongs to.
const nobody = -1

// Struck is a blow that fell.
type Struck struct {
	Blow
	Harm  nemesis.Harm  // to a store
	Young bool          // see [nemesis.Fault]
	Anew  bool          // the same
	Fell  time.Duration // when all of it had happened that happens at its beginning
	Span
}

// A Touch is one access to the resource behind a lock.
type Touch struct {
	Visitor int
	Lock    string
	Token   uint64
	Write   bool
	At      time.Duration
	Value   int64 // read, or written
	Refused bool  // somebody with a greater token had been there
}

// An End is what a visitor's process had left when its client was closed.
type End struct {
	Visitor     int
	At          time.Duration
	Goroutines  int
	Heap        uint64 // bytes in use
	Descriptors int    // open files and connections
}

// Write writes the record as JSON.
func (r Record) Write(w io.Writer) error {
	return json.NewEncoder(w).Encode(r)
}

// histories are visits by their locks, as far as the docs promise what comes of them.
func (r Record) histories(visits []Visit) map[string]history.History {
	all := make(map[string]history.History)
	for _, v := range visits {
		h, ok := all[v.Lock]
		if !ok {
			h = history.History{Limit: limit(v.Lock), Voted: r.Voted}
		}
		h.Visits = append(h.Visits, r.promised(v))
		all[v.Lock] = h
	}
	return all
}

// Acquired counts the visits that got in.
func (r Record) Acquired() (n int) {
	for _, v := range r.Visits {
		if v.Outcome == history.Got {
			n++
		}
	}
	return n
}

// StoodStill is for how long something held up everybody that was not a lock.
func (r Record) StoodStill() (sum time.Duration) {
	var until time.Duration
	byFrom := func(a, b Stall) int { return cmp.Compare(a.From, b.From) }
	for _, s := range slices.SortedFunc(slices.Values(r.Stalls), byFrom) {
		if s.Visitor == nobody && s.To > until {
			sum += s.To - max(s.From, until)
			until = s.To
		}
	}
	return sum
}

// overlaps reports whether two spans have a moment in common.
func (s Span) overlaps(other Span) bool { return s.From <= other.To && other.From <= s.To }

// wider is the span with so much more at its end.
func (s Span) wider(by time.Duration) Span { return Span{s.From, s.To + by} }
