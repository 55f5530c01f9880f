package proof

import (
	"slices"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/internal/proxy"
)

// A Schedule is all that is decided before a run. What the machine decides, like who comes first, is not in it.
type Schedule struct {
	Store    string // a name of [nemesis.Kinds]
	Seed     uint64 // it was drawn from; zero if it was not drawn, or was made smaller
	TTL      time.Duration
	Lasts    time.Duration // for how long visitors come
	Careless bool          // they stay without looking at their leases, so that the judges must find fault
	Visitors [][]Step      // what each does, again and again
	Blows    []Blow        // in the order of their times
}

// A Step is one thing that a visitor does.
type Step struct {
	Verb   Verb
	Lock   string        // for All, several mutexes with + between
	Units  int64         // of those that the lock has: see [limits]
	Within time.Duration // how long it waits for the lock
	Stays  time.Duration // how long it is inside
	Times  int           // how often it does all this, one after the other; zero: once

	TTL   time.Duration // of the lock; zero: that of the schedule
	Least time.Duration // the minimum hold, if not zero
	Most  time.Duration // the maximum hold, if not zero
	Reuse time.Duration // for how long it is kept by its client, if not zero
	Later bool          // its release is not waited for
	Again bool          // its holder acquires it once more, and releases that, before it stays
	Pass  bool          // halfway through the stay it is detached, and another process goes on

	Many int  // locks of a hoard, or claims of a queue
	Dies bool // the process that has them is killed in the end, and releases nothing
}

// A Verb says what is done in a step.
type Verb string

const (
	Lock    Verb = "lock"   // wait for the lock, be inside, release
	Try     Verb = "try"    // the same, if the lock is free
	Lead    Verb = "lead"   // wait to lead an election, which is a mutex, be leader, resign
	All     Verb = "all"    // wait for several mutexes together, be inside, release them
	Command Verb = "run"    // wait for the lock with the command, whose child is inside
	Break   Verb = "break"  // end the oldest claim on the lock, whosever it is
	Revoke  Verb = "revoke" // ask its holder to let go

	Transact Verb = "transact" // count a number in the database on, in a transaction that is the lock
	Foreign  Verb = "foreign"  // wait for the lock with a program of others, which is inside, and have it release that

	Hoard Verb = "hoard" // acquire many mutexes that nobody else wants, in a process of their own
	Queue Verb = "queue" // hold a lock for which many others in the same process wait, in vain
)

// A Blow is what happens to one of the things that a run consists of.
type Blow struct {
	At, For time.Duration
	Target  Target
	Number  int // of the visitor, or of the visitor that has the line
	What    string
}

// A Target is what a blow strikes.
type Target string

const (
	OnStore   Target = "store"   // with a fault of package nemesis
	OnLine    Target = "line"    // with one of [lineFaults]
	OnVisitor Target = "visitor" // with Stop or Death
)

// What befalls visitors: they are stopped for a while, or killed, and come again as another process after a while.
const (
	Stop  = "stop"
	Death = "kill"
)

// limits are the units of locks, by the letter that the name of a lock begins with: mutexes, readers and writers,
// permits, transactions, mutexes of a hoard, and permits for which a queue waits.
var limits = map[byte]int64{'m': 1, 'r': 1000, 'p': 3, 't': 1, 'h': 1, 'q': 3}

// limit returns how many units a lock has.
func limit(lock string) int64 { return limits[lock[0]] }

// verbs are all that is known.
var verbs = []Verb{Lock, Try, Lead, All, Command, Break, Revoke, Transact, Foreign, Hoard, Queue}

// ownNames are the letters that the names of locks begin with which are for one verb alone.
var ownNames = map[Verb]byte{Transact: 't', Hoard: 'h', Queue: 'q'}

// isMany reports whether the verb is for many claims at once.
func (v Verb) isMany() bool { return v == Hoard || v == Queue }

// hasOptions reports whether a step with this verb may have options.
func (v Verb) hasOptions() bool { return v == Lock || v == Try || v == Lead }

// onMutexes reports whether the verb is for mutexes alone.
func (v Verb) onMutexes() bool { return v == Lead || v == All || v == Command || v == Foreign }

// locks are the names of the locks that a step visits.
func (s Step) locks() []string { return strings.Split(s.Lock, "+") }

// Locks returns the names of the locks that are visited.
func (s Schedule) Locks() (names []string) {
	for _, steps := range s.Visitors {
		for _, step := range steps {
			names = append(names, step.locks()...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// transacted are the names of the locks that are transactions.
func (s Schedule) transacted() []string {
	return slices.DeleteFunc(s.Locks(), func(lock string) bool { return lock[0] != 't' })
}

// Smaller yields schedules that lack one thing each, greater things first, until yield is false.
func (s Schedule) Smaller(yield func(Schedule) bool) {
	s.Seed = 0
	for i := range s.Visitors {
		if len(s.Visitors) > 1 && !yield(s.withoutVisitor(i)) {
			return
		}
	}
	for i := range s.Blows {
		fewer := s
		fewer.Blows = slices.Delete(slices.Clone(s.Blows), i, i+1)
		if !yield(fewer) {
			return
		}
	}
	for i, steps := range s.Visitors {
		for j := range steps {
			if len(steps) > 1 && !yield(s.withoutStep(i, j)) {
				return
			}
		}
	}
}

func (s Schedule) withoutVisitor(i int) Schedule {
	s.Visitors = slices.Delete(slices.Clone(s.Visitors), i, i+1)
	var blows []Blow
	for _, b := range s.Blows {
		switch {
		case b.Target != OnStore && b.Number == i:
			continue
		case b.Target != OnStore && b.Number > i:
			b.Number--
		}
		blows = append(blows, b)
	}
	s.Blows = blows
	return s
}

func (s Schedule) withoutStep(i, j int) Schedule {
	s.Visitors = slices.Clone(s.Visitors)
	s.Visitors[i] = slices.Delete(slices.Clone(s.Visitors[i]), j, j+1)
	return s
}

// tries is how often a smaller schedule is tried: what the machine decides may let it pass.
const tries = 3

// minimise takes away what a schedule does not need to stay wrong.
func minimise(s Schedule, wrong func(Schedule) bool) Schedule {
	for {
		found := false
		for smaller := range s.Smaller {
			for range tries {
				if found = wrong(smaller); found {
					s = smaller
					break
				}
			}
			if found {
				break
			}
		}
		if !found {
			return s
		}
	}
}

// lineFaults are what befalls the lines of one visitor.
var lineFaults = map[string]func(line *proxy.Proxy, ttl time.Duration){
	"black hole":   func(p *proxy.Proxy, _ time.Duration) { p.BlackHole() },
	"lost answers": func(p *proxy.Proxy, _ time.Duration) { p.BlackHoleAnswers() },
	"lost flows":   func(p *proxy.Proxy, _ time.Duration) { p.SwallowOpen() },
	"reset":        func(p *proxy.Proxy, _ time.Duration) { p.Reset() },
	"delay":        func(p *proxy.Proxy, ttl time.Duration) { p.Delay(ttl / 8) },
}
