package proof

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/systemtest/nemesis"
)

// A Size says how much happens in a run.
type Size struct {
	Visitors int
	Runners  int // so many of the visitors go through busy locks, and do nothing else
	Locks    int // of each kind
	Lasts    time.Duration
	Commands bool // visitors run the command, too
	Crowds   int  // so often at most a step goes through a busy lock
	Many     int  // so many locks at most a process renews in a second; zero: it has few
}

// steps is how many steps a visitor knows, which it does again and again.
const steps = 24

// Draw makes the schedule of a seed for a store.
func Draw(seed uint64, store *nemesis.Store, size Size) Schedule {
	d := drawer{Rand: rand.New(rand.NewPCG(seed, 0)), store: store}
	d.rests = among(d, resting...)
	s := Schedule{Store: store.Name, Seed: seed, TTL: store.TTL, Lasts: size.Lasts}
	for i := range size.Visitors {
		step := d.step
		if i < size.Runners {
			step = d.runner(i)
		}
		var program []Step
		for range steps {
			program = append(program, step(size))
		}
		s.Visitors = append(s.Visitors, program)
	}
	s.Blows = d.blows(size)
	return s
}

// A drawer draws for a store.
type drawer struct {
	*rand.Rand
	store *nemesis.Store
	rests string // one of resting
}

func (d drawer) upTo(most time.Duration) time.Duration {
	return time.Duration(d.Int64N(int64(most))).Round(100 * time.Microsecond)
}

func (d drawer) oneIn(n int) bool { return d.IntN(n) == 0 }

func among[T any](d drawer, some ...T) T { return some[d.IntN(len(some))] }

// step mostly wants a lock for a moment, and at times for as long as a cut line takes to cost it.
func (d drawer) step(size Size) Step {
	s := Step{Verb: Lock, Units: 1, Within: d.upTo(3 * d.store.TTL), Stays: d.upTo(3 * time.Millisecond)}
	s.Lock, s.Units = d.lock(size)
	switch d.IntN(32) {
	case 0:
		s.Stays = d.upTo(d.store.TTL / 2)
	case 1:
		s.Stays = d.upTo(2 * d.store.TTL)
	}
	switch d.IntN(32) {
	case 0:
		s.Verb = Break
	case 1:
		s.Verb = Revoke
	case 2, 3, 4, 5, 6:
		s.Verb = Try
	case 7, 8:
		if size.Commands && limit(s.Lock) == 1 {
			s.Verb = Command
		}
	case 9, 10:
		if limit(s.Lock) == 1 {
			s.Verb = Lead
		}
	case 11, 12:
		if limit(s.Lock) == 1 && size.Locks > 1 {
			s.Verb, s.Lock = All, d.several(size)
		}
	}
	switch {
	case s.Verb == Lock && len(d.store.Peers) > 0 && d.oneIn(foreigns):
		return d.foreign(size)
	case s.Verb == Lock && d.store.Database != nil && d.oneIn(transacts):
		return d.transaction(size)
	case size.Many > 0 && !d.store.Session && d.oneIn(massively):
		return d.many(size)
	case s.Verb == Lock && d.oneIn(busily):
		return d.crowd(size)
	case s.Verb == Lock && d.oneIn(seldom):
		return d.rare()
	case s.Verb.hasOptions():
		d.options(&s)
	}
	return s
}

// One of so many steps goes through a busy lock that nobody keeps.
const busily = 12

// One of so many steps is a transaction, where there are any.
const transacts = 8

// transaction counts a number on, some times.
func (d drawer) transaction(size Size) Step {
	return Step{
		Verb: Transact, Lock: fmt.Sprintf("t%d", d.IntN(size.Locks)), Units: 1, Within: d.upTo(3 * d.store.TTL),
		Stays: d.upTo(3 * time.Millisecond), Times: 1 + d.IntN(10),
	}
}

// One of so many steps is for a program of others, where there are any.
const foreigns = 3

// foreign goes through a mutex with such a program some times, or stays there for as long as it takes to lose it.
func (d drawer) foreign(size Size) Step {
	s := Step{
		Verb: Foreign, Lock: fmt.Sprintf("m%d", d.IntN(size.Locks)), Units: 1, Within: d.upTo(2 * d.store.TTL),
		Stays: d.upTo(3 * time.Millisecond), Times: 1 + d.IntN(10),
	}
	switch d.IntN(8) {
	case 0, 1, 2:
		s.Lock = busy
	case 3:
		s.Stays, s.Times = d.upTo(2*d.store.TTL), 1
	}
	return s
}

// busy is that lock: among the others most visits wait behind somebody who stays for long.
const busy = "m9"

// crowd goes through that lock again and again, and mostly does nothing there but to read and write.
func (d drawer) crowd(size Size) Step {
	s := Step{Verb: Lock, Lock: busy, Units: 1, Within: d.store.TTL, Times: 1 + d.IntN(size.Crowds)}
	if d.oneIn(4) {
		s.Stays = d.upTo(time.Millisecond)
	}
	return s
}

// pair is how many runners each busy lock has: with one alone nobody would wait, and more than two wait for longer.
const pair = 2

// runner returns what a runner does: the first pair goes through the lock that others pass, too, and the others through
// two of their own, of other kinds where there are any.
func (d drawer) runner(i int) func(Size) Step {
	locks := []string{busy, "r9", "p9"}
	if d.store.Mutexes {
		locks = []string{busy, "m10", "m11"}
	}
	lock := locks[i/pair%len(locks)]
	return func(size Size) Step {
		s := d.crowd(size)
		s.Lock, s.Units = lock, d.units(lock[0])
		return s
	}
}

// One of so many steps has many claims at once.
const massively = 48

// How many times fewer claims a process has than it may hold of locks of one server.
const (
	queues = 16 // that wait for one lock
	voters = 5  // each of which is on so many servers
)

// many is a hoard of locks, or a queue of claims, of which one process can keep as many as two processors can renew:
// fewer where each is renewed on several servers, and none where each takes a connection of its own.
func (d drawer) many(size Size) Step {
	const soon = 20 * time.Second
	within, stays := min(4*d.store.TTL, soon), d.upTo(min(2*d.store.TTL, soon))
	s := Step{Verb: Hoard, Lock: "h0", Units: 1, Within: within, Stays: stays, Dies: d.oneIn(2)}
	most := int(time.Duration(size.Many) * d.store.TTL / time.Second)
	if d.store.Voted {
		most /= voters
	}
	s.Many = most/10 + d.IntN(most)
	if d.oneIn(2) && !d.store.Mutexes {
		s.Verb, s.Lock, s.Many = Queue, "q0", s.Many/queues
	}
	return s
}

// One of so many steps goes to a lock that rests between runs.
const seldom = 24

// resting are those locks. A run visits one of them, so a store forgets about the others what it forgets with time.
var resting = []string{"m6", "m7", "m8"}

// rare leaves a claim that may end by itself: the last of a run does, unless the lock is looked at then, and rests.
func (d drawer) rare() Step {
	ttl := d.store.TTL
	return Step{
		Verb: Lock, Lock: d.rests, Units: 1, Within: 3 * ttl, Stays: d.upTo(time.Millisecond), Least: d.upTo(ttl),
	}
}

// several draws some mutexes, in any order.
func (d drawer) several(size Size) string {
	var names []string
	for _, i := range d.Perm(size.Locks)[:2+d.IntN(size.Locks-1)] {
		names = append(names, fmt.Sprintf("m%d", i))
	}
	return strings.Join(names, "+")
}

// tellsWhoWaits reports whether the store can, so that locks may be kept for reuse.
func (d drawer) tellsWhoWaits() bool { return !d.store.Voted && !d.store.Session && !d.store.Unruly }

// options gives some steps one option.
func (d drawer) options(s *Step) {
	ttl := d.store.TTL
	switch d.IntN(24) {
	case 0, 1:
		s.TTL = ttl + d.upTo(ttl)
	case 2, 3:
		s.Least = d.upTo(ttl / 4)
	case 4:
		s.Most, s.Stays = d.upTo(ttl/4)+ttl/100, d.upTo(ttl)
	case 5, 6:
		s.Again = limit(s.Lock) != limits['p']
	case 7:
		s.Pass = true
	case 8, 9:
		if d.tellsWhoWaits() && limit(s.Lock) == 1 && (s.Verb == Lock || s.Verb == Try) {
			s.Reuse, s.Times = d.upTo(ttl/2)+1, 1+d.IntN(20)
		}
	case 10, 11:
		s.Later = s.Verb == Lock || s.Verb == Try
	}
}

func (d drawer) lock(size Size) (name string, units int64) {
	kind := byte('m')
	if !d.store.Mutexes {
		kind = among(d, 'm', 'm', 'r', byte('p'))
	}
	return string(kind) + string(rune('0'+d.IntN(size.Locks))), d.units(kind)
}

// units draws how much of a lock of a kind is wanted.
func (d drawer) units(kind byte) int64 {
	switch kind {
	case 'r':
		return among(d, 1, 1, 1, limits['r'])
	case 'p':
		return among(d, 1, 1, int64(2))
	default:
		return 1
	}
}

// blows befall the store one after the other, with rests between, and lines and visitors meanwhile.
func (d drawer) blows(size Size) (blows []Blow) {
	ttl, faults := d.store.TTL, d.store.Faults
	for at := d.upTo(ttl); len(faults) > 0 && at < size.Lasts; {
		f := among(d, faults...)
		if f.Forgets {
			faults = slices.DeleteFunc(slices.Clone(faults), setsBack)
		}
		b := Blow{At: at, For: d.howLong(), Target: OnStore, What: f.Name}
		blows = append(blows, b)
		at += b.For + ttl/2 + d.upTo(ttl)
	}
	names := slices.Sorted(maps.Keys(lineFaults))
	for at := d.upTo(ttl); at < size.Lasts; at += d.upTo(ttl) {
		b := Blow{At: at, For: d.howLong(), Target: OnLine, Number: d.IntN(size.Visitors)}
		b.What = names[d.IntN(len(names))]
		if len(d.store.Addrs) == 0 || d.oneIn(4) {
			b.Target, b.What = OnVisitor, among(d, Stop, Stop, Death)
		}
		blows = append(blows, b)
	}
	slices.SortStableFunc(blows, func(a, b Blow) int { return int(a.At - b.At) })
	return blows
}

func setsBack(f nemesis.Fault) bool { return f.Name == nemesis.ClockBack }

// howLong draws how long something lasts: mostly for a moment, at times for longer than the TTL.
func (d drawer) howLong() time.Duration {
	if d.oneIn(4) {
		return d.store.TTL + d.store.TTL/2
	}
	return d.upTo(d.store.TTL / 4)
}
