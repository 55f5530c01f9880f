package model_test

import (
	"testing"

	"github.com/holdfast-go/holdfast/internal/model"
)

// A fast path for Redis that nobody has built: a mutex is one string, `SET key 'a TOKEN ID' NX PX`, and the server
// keeps no tombstone for each lock, but a record for each client: what became of its requests, by their numbers. A
// request that comes late or twice finds its number there. An undo writes that a number is barred. The client sends
// along below which number all is acknowledged (the floor), and the server trims the record to that.
// docs/design-notes/fast-path.md says what follows from this.
//
// Modelled: one lock; a client with two claims, each with its attempts, its release and its undo, all of which may be
// lost, arrive late, and arrive again and again, in any order; answers that are lost or late; time, as ticks of which
// a TTL has two, and by which keys expire and holders stop believing; the death of the client; a record that expires;
// and a rival, who takes the lock whenever the key is not there, and believes in it as long as his key is.
//
// Left out: the rival's own network (what holds for one client holds for each), renewals (they change a key only where
// it has the claim's ID), the queue (a key that is a queue refuses the fast path, as a key that is taken does), several
// locks in a batch (each has an entry of its own), rates of clocks, and servers that forget. Tokens are in
// fastpath_token_test.go.
func TestFastPathInEveryState(t *testing.T) {
	for _, row := range []struct {
		name  string
		rules fastRules
		wrong string
	}{
		{name: "a repeat is told how long the key still lives", rules: fastRules{}},
		{name: "a repeat renews the key", rules: fastRules{repeat: renews}},
		{name: "what was given up counts as acknowledged", rules: fastRules{earlyFloor: true}},

		{"as sketched: a repeat is told what the first was told", fastRules{repeat: recites}, twoHold},
		{"as sketched: a batch has the number, and a claim is retried in another", fastRules{byBatch: true}, again},
		{"a holder counts from the answer", fastRules{lateCount: true}, twoHold},
		{"nothing is recorded", fastRules{noRecord: true}, again},
		{"an undo bars nothing", fastRules{noBar: true}, takesLate},
		{"an undo bars, and leaves the lock", fastRules{onlyBars: true}, takesLate},
		{"a release frees whoever has the lock", fastRules{freesAnybody: true}, robbed},
		{"the record is trimmed, and the floor not kept", fastRules{noFloor: true}, takesLate},
		{"an older floor replaces the newer", fastRules{lowerFloor: true}, takesLate},
		{
			"what was given up counts as acknowledged, and the floor refuses its undo",
			fastRules{earlyFloor: true, floorStopsUndo: true}, takesLate,
		},
		{"a record expires before the last copy has arrived", fastRules{shortRecord: true}, takesLate},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			if row.wrong == "" {
				model.Holds(t, fastPath(row.rules))
			} else {
				model.Breaks(t, fastPath(row.rules), row.wrong)
			}
		})
	}
}

const (
	twoHold   = "two believe that they have the lock"
	again     = "a claim has the lock for the second time"
	takesLate = "a claim that is over has the lock"
	robbed    = "the rival's key was deleted"
)

// fastRules are how the protocol differs from the right one.
type fastRules struct {
	repeat         repeat
	byBatch        bool // a second attempt has a number of its own
	lateCount      bool // a holder counts its time from the answer, and not from before the attempt
	noRecord       bool
	noBar          bool
	onlyBars       bool
	freesAnybody   bool
	noFloor        bool
	lowerFloor     bool
	earlyFloor     bool
	floorStopsUndo bool
	shortRecord    bool
}

// repeat is what the server does about a request whose number is recorded as granted.
type repeat int

const (
	tells   repeat = iota // it says how long the key still lives, or that the claim has ended
	renews                // it lets the key live for another TTL, or says that the claim has ended
	recites               // it says that the lock is granted, as it did before
)

const (
	fastTTL    = 2
	fastClaims = 2
	fastRival  = fastClaims + 1 // in key
)

// A fastState is a state of everything.
type fastState struct {
	key    uint8 // 0 when there is none; a claim, from 1; or the rival
	px     uint8 // how long the key still lives
	dead   bool  // the client
	robbed bool
	floor  uint8                    // of the record: below it all is acknowledged
	record [fastClaims][2]fastEntry // by number; a claim has a second one only by batches
	claims [fastClaims]fastClaim
}

type fastEntry uint8

const (
	blank fastEntry = iota
	entryGranted
	entryRefused
	entryBarred
)

// A fastClaim is what there is of a claim outside the server.
type fastClaim struct {
	phase  fastPhase
	age    uint8 // while asking: how long ago the attempt was sent; while holding: how long it is to be believed
	answer fastAnswer
	left   uint8 // how long the key still lived, by the answer
	sent   [2]bool
	floor  uint8 // that rides along with the request
	undo   bool  // may arrive, and so on
	free   bool
	had    bool // the key was its own, and is not any more
}

type fastPhase uint8

const (
	unborn fastPhase = iota
	asking
	holding
	releasing
	undoing
	over // the client was told that nothing is left of it
)

type fastAnswer uint8

const (
	unheard fastAnswer = iota
	saysGranted
	saysRefused
	saysGone
)

func fastPath(r fastRules) model.Model[fastState] {
	return model.Model[fastState]{Next: r.next, Wrong: fastWrong, Good: fastGood}
}

func fastWrong(s fastState) string {
	believers := 0
	if s.key == fastRival {
		believers++
	}
	for i, c := range s.claims {
		mine := s.key == uint8(i+1)
		switch {
		case mine && c.had:
			return again
		case mine && c.phase == over:
			return takesLate
		case c.phase == holding && !s.dead:
			believers++
		}
	}
	switch {
	case s.robbed:
		return robbed
	case believers > 1:
		return twoHold
	}
	return ""
}

// fastGood reports whether everything has come to an end.
func fastGood(s fastState) bool {
	for _, c := range s.claims {
		if c.phase != over && !s.dead {
			return false
		}
	}
	return s.key == 0
}

func (r fastRules) next(s fastState, step func(fastState, string)) {
	r.network(s, step)
	fastTime(s, step)
	switch s.key {
	case 0:
		next := s
		next.key, next.px = fastRival, fastTTL
		step(next, "the rival takes the lock")
	case fastRival:
		next := s
		next.key, next.px = 0, 0
		step(next, "the rival releases the lock")
	}
	if r.mayExpire(s) {
		step(r.expire(s), "the record expires")
	}
	if s.dead {
		return
	}
	next := s
	next.dead = true
	step(next, "the client dies")
	for i := range s.claims {
		r.client(s, i, step)
	}
}

var fastNames = [fastClaims]string{"claim 1: ", "claim 2: "}

// client yields what the client may do about a claim.
func (r fastRules) client(s fastState, i int, step func(fastState, string)) {
	do := func(what string, change func(c *fastClaim)) {
		next := s
		change(&next.claims[i])
		step(next, fastNames[i]+what)
	}
	c := s.claims[i]
	switch c.phase {
	case unborn:
		if i > 0 && s.claims[i-1].phase == unborn {
			return
		}
		do("is requested", func(c *fastClaim) {
			c.phase, c.sent[0], c.floor = asking, true, r.acknowledged(s)
		})
	case asking:
		do("is requested again", func(c *fastClaim) {
			c.age, c.answer, c.left = 0, unheard, 0
			c.sent[r.newest()] = true
		})
		do("is given up", (*fastClaim).giveUp)
		if c.answer != unheard {
			do("its answer arrives", r.hear)
		}
	case holding:
		do("is released", func(c *fastClaim) { c.phase, c.age, c.free = releasing, 0, true })
	}
}

// newest is under which of its numbers a claim is asked for again.
func (r fastRules) newest() int {
	if r.byBatch {
		return 1
	}
	return 0
}

func (c *fastClaim) giveUp() { c.phase, c.age, c.answer, c.left, c.undo = undoing, 0, unheard, 0, true }

// hear lets the client learn what the server said.
func (r fastRules) hear(c *fastClaim) {
	age, answer, left := c.age, c.answer, c.left
	c.answer, c.left, c.age = unheard, 0, 0
	if r.lateCount {
		age = 0
	}
	switch {
	case answer != saysGranted:
		c.phase = over
	case left > age:
		c.phase, c.age = holding, left-age
	default:
		c.giveUp()
	}
}

// acknowledged is the number below which the client knows what became of its claims.
func (r fastRules) acknowledged(s fastState) uint8 {
	for i, c := range s.claims {
		given := c.phase == undoing || c.phase == releasing
		if c.phase != over && !(r.earlyFloor && given) {
			return uint8(i)
		}
	}
	return fastClaims
}

// network yields what happens when anything that was ever sent arrives, once more, with an answer that gets back or
// not.
func (r fastRules) network(s fastState, step func(fastState, string)) {
	for i, c := range s.claims {
		for number, sent := range c.sent {
			if sent {
				r.deliver(s, i, number, step)
			}
		}
		if c.free {
			next := s
			if next.key == uint8(i+1) || r.freesAnybody {
				next.robbed = next.key == fastRival
				next.drop()
			}
			r.acknowledge(next, i, releasing, "its release arrives", step)
		}
		if c.undo {
			r.acknowledge(r.undone(s, i), i, undoing, "its undo arrives", step)
		}
	}
}

// deliver lets a request arrive.
func (r fastRules) deliver(s fastState, i, number int, step func(fastState, string)) {
	answer, left := r.request(&s, i, number)
	step(s, fastNames[i]+"a request arrives")
	if c := &s.claims[i]; !s.dead && c.phase == asking && c.answer == unheard &&
		(number == r.newest() || !c.sent[r.newest()]) {
		c.answer, c.left = answer, left
		step(s, fastNames[i]+"a request arrives, and its answer is on the way")
	}
}

// acknowledge yields what was done, and what was done and is known to be.
func (r fastRules) acknowledge(s fastState, i int, phase fastPhase, what string, step func(fastState, string)) {
	step(s, fastNames[i]+what)
	if c := &s.claims[i]; !s.dead && c.phase == phase {
		c.phase = over
		step(s, fastNames[i]+what+", and its answer")
	}
}

// request is the script by which a lock is acquired.
func (r fastRules) request(s *fastState, i, number int) (fastAnswer, uint8) {
	r.trim(s, s.claims[i].floor)
	if !r.noFloor && uint8(i) < s.floor {
		return saysGone, 0
	}
	mine := s.key == uint8(i+1)
	switch entry := &s.record[i][number]; *entry {
	case entryBarred:
		return saysGone, 0
	case entryRefused:
		return saysRefused, 0
	case entryGranted:
		return r.repeated(s, mine)
	default:
		if mine { // under its other number
			*entry = entryGranted
			return r.repeated(s, mine)
		}
		took := s.key == 0
		if took {
			s.key, s.px = uint8(i+1), fastTTL
		}
		switch {
		case r.noRecord:
		case took:
			*entry = entryGranted
		default:
			*entry = entryRefused
		}
		if !took {
			return saysRefused, 0
		}
		return saysGranted, fastTTL
	}
}

// repeated is the answer about a claim that was granted before.
func (r fastRules) repeated(s *fastState, mine bool) (fastAnswer, uint8) {
	switch {
	case r.repeat == recites:
		return saysGranted, fastTTL
	case !mine:
		return saysGone, 0
	case r.repeat == renews:
		s.px = fastTTL
	}
	return saysGranted, s.px
}

// trim forgets what is acknowledged.
func (r fastRules) trim(s *fastState, floor uint8) {
	if floor > s.floor || r.lowerFloor {
		s.floor = floor
	}
	for i := range floor {
		s.record[i] = [2]fastEntry{}
	}
}

// undone is what the script does that takes a request back.
func (r fastRules) undone(s fastState, i int) fastState {
	below := uint8(i) < s.floor
	if below && r.floorStopsUndo {
		return s
	}
	if s.key == uint8(i+1) && !r.onlyBars {
		s.drop()
	}
	for number := range s.record[i] {
		if entry := &s.record[i][number]; *entry == blank && s.claims[i].sent[number] && !below && !r.noBar {
			*entry = entryBarred
		}
	}
	return s
}

// drop deletes the key.
func (s *fastState) drop() {
	if s.key != 0 && s.key != fastRival {
		s.claims[s.key-1].had = true
	}
	s.key, s.px = 0, 0
}

// mayExpire reports whether the client's record may be at the end of its life: nothing happens about it any more.
func (r fastRules) mayExpire(s fastState) bool {
	for _, c := range s.claims {
		if !s.dead && c.phase != over && c.phase != unborn {
			return false
		}
	}
	return s.floor > 0 || s.record != [fastClaims][2]fastEntry{}
}

// expire ends the record. It is meant to live for as long as a copy of a request may be under way.
func (r fastRules) expire(s fastState) fastState {
	s.floor, s.record = 0, [fastClaims][2]fastEntry{}
	for i := range s.claims {
		if c := &s.claims[i]; !r.shortRecord {
			c.sent, c.undo, c.free = [2]bool{}, false, false
		}
	}
	return s
}

// fastTime yields the next tick.
func fastTime(s fastState, step func(fastState, string)) {
	before := s
	if s.px > 0 {
		if s.px--; s.px == 0 {
			s.drop()
		}
	}
	for i := range s.claims {
		switch c := &s.claims[i]; {
		case c.phase == asking:
			c.age = min(c.age+1, fastTTL)
		case c.phase == holding:
			if c.age--; c.age == 0 {
				c.giveUp()
			}
		}
	}
	if s != before {
		step(s, "time passes")
	}
}
