package model_test

import (
	"testing"

	"github.com/holdfast-go/holdfast/internal/model"
)

// Keys of etcd that are used again: docs/design-notes/keys-of-etcd.md. A client puts its claims at few keys, one after
// the other.
//
// Modelled: one lock; two clients with two claims each, one after the other; requests, releases and undos, all of which
// may be lost and arrive late; copies of releases, of undos and of requests that were sent again, of which more arrive
// again and again; answers that are lost; a release that leaves no note, because the one request of its claim was
// answered; a watch of the claim ahead; another client that takes a claim over; a claim that nobody renews, so that its
// client takes it out; somebody who reads where a claim is and then breaks it; and the end of the first client's lease,
// with all that is on it. The second request of each client is sent again at once, which keeps the states few.
//
// Left out: renewals, by which a claim that waits looks at the queue whatever it was told; shared locks, which read
// more of the queue; the time after which no copy is late any more; members that answer from the past, which are
// refused by their revision; a store that is full, and takes no note of an end; and compaction, after which a watch
// that begins too late reads the queue.
func TestKeysInEveryState(t *testing.T) {
	for _, row := range []struct {
		name  string
		rules keyRules
		wrong string
	}{
		{name: "as designed", rules: keyRules{}},
		{name: "as designed, and the first client dies", rules: keyRules{dies: true}},
		{name: "as designed, and nobody gives up in line", rules: keyRules{patient: true}},

		{"a request does not ask whether its claim has ended", keyRules{anyID: true}, forNobody},
		{"a release remembers no end, though copies of the request are under way", keyRules{noEnd: true}, forNobody},
		{"an undo of what is not queued bars nothing", keyRules{noBar: true}, forNobody},
		{"a request does not ask whether its key is free", keyRules{anyKey: true}, forNobody},
		{"a release compares the key alone", keyRules{anyRelease: true}, ofAnother},
		{"the key of an undo is used again at once", keyRules{anyUndo: true}, ofAnother},
		{"the key of a claim that expired is used again", keyRules{anyExpired: true}, ofAnother},
		{"a break goes by the key that was read", keyRules{anyBreak: true}, ofAnother},
		{"a watch sees the key, and not whose it is", keyRules{patient: true, anyWatch: true}, model.NoWayOn},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			m := model.Model[keyState]{Start: keyStart(), Next: row.rules.next, Wrong: keyWrong, Good: keyGood}
			if row.wrong == "" {
				model.Holds(t, m)
			} else {
				model.Breaks(t, m, row.wrong)
			}
		})
	}
}

const (
	twoInside = "two believe that they have the lock"
	twice     = "a claim is in the queue twice"
	forNobody = "a claim that is over is in the queue, and nobody will take it out"
	ofAnother = "a claim was taken out by what was meant for another"
)

// keyRules are how the protocol differs from the right one.
type keyRules struct {
	dies    bool // the first client
	patient bool // a claim that waits is not given up

	anyID, noEnd, noBar, anyKey, anyRelease, anyUndo, anyExpired, anyBreak, anyWatch bool
}

const (
	keyClaims = 4 // of the first client, then of the second
	ofFirst   = 2
	ofEach    = 2
	keyKeys   = 4 // of the first client, then of the second
	mostPuts  = 6 // with a wrong rule there is no end of them
	none      = -1
)

// A keyState is a state of everything.
type keyState struct {
	keys   [keyKeys]keySeat
	ended  [keyClaims]bool // a note of it is there
	claims [keyClaims]keyClaim
	rev    uint8
	dead   bool // the first client, and its lease
	other  bool // see ofAnother

	move  breaking // the takeover of a claim by the second client
	broke breaking // what was read by somebody who wants to break a claim
}

// A keySeat is what is at a key.
type keySeat struct {
	claim int8 // none if the key is not there
	born  uint8
	lease uint8 // of the client
}

// A breaking is what a step that was read about is to change.
type breaking struct {
	on   bool
	at   uint8
	born uint8
}

// A keyClaim is what there is of a claim outside the server.
type keyClaim struct {
	phase    keyPhase
	at       uint8 // its key, and token once that is known
	token    uint8
	ahead    uint8 // what it watches
	awaited  uint8 // the token there
	asked    bool  // a request may arrive
	again    bool  // it was sent more than once, so copies may arrive for ever
	released bool  // and releases
	bare     bool  // they leave no note
	undone   bool  // and undos
	barred   bool  // one was answered, so no other is sent
	expired  bool  // its client did not renew it, and takes it out if it is on that client's lease still
	second   bool  // the second client has it
	left     bool  // the next claim of its client may have its key
}

type keyPhase uint8

const (
	unasked keyPhase = iota
	inDoubt
	inLine
	inside
	leaves // the release is not answered
	isOver
)

func keyStart() (s keyState) {
	for i := range s.keys {
		s.keys[i].claim = none
	}
	return s
}

// ownerOf is the client that requests a claim, and has its lease.
func ownerOf(claim int) uint8 { return uint8(claim / ofFirst) }

func keyWrong(s keyState) string {
	holders := 0
	for i, c := range s.claims {
		if c.phase == inside {
			holders++
		}
		if s.places(i) > 1 {
			return twice
		}
	}
	for _, k := range s.keys {
		if k.claim == none {
			continue
		}
		c := s.claims[k.claim]
		willGo := c.undone && !c.barred || c.released && c.token == k.born ||
			c.expired && k.lease == ownerOf(int(k.claim))
		if c.phase == isOver && !willGo {
			return forNobody
		}
	}
	switch {
	case s.other:
		return ofAnother
	case holders > 1:
		return twoInside
	}
	return ""
}

// places counts the keys at which a claim is.
func (s keyState) places(claim int) (n int) {
	for _, k := range s.keys {
		if int(k.claim) == claim {
			n++
		}
	}
	return n
}

// keyGood tells that all claims have come and gone.
func keyGood(s keyState) bool {
	for _, k := range s.keys {
		if k.claim != none {
			return false
		}
	}
	for _, c := range s.claims {
		if c.phase != isOver {
			return false
		}
	}
	return true
}

func (r keyRules) next(s keyState, step func(keyState, string)) {
	for i := range s.claims {
		r.client(s, i, step)
		r.arrivals(s, i, step)
	}
	r.strangers(s, step)
	if r.dies && !s.dead {
		step(s.withoutFirst(), "the first client is dead, and its lease has ended")
	}
}

// client is what a client may do about a claim.
func (r keyRules) client(s keyState, i int, step func(keyState, string)) {
	c := s.claims[i]
	change := func(what string, of func(*keyClaim)) {
		next := s
		of(&next.claims[i])
		step(next, what)
	}
	if s.dead && ownerOf(i) == 0 && !c.second {
		return
	}
	release := func(c *keyClaim) {
		c.phase, c.released, c.bare = leaves, true, !c.again && !c.second
	}
	switch c.phase {
	case unasked:
		if at, free := s.keyFor(i); free {
			change("a claim is requested", func(c *keyClaim) {
				c.phase, c.asked, c.at, c.again = inDoubt, true, at, i%ofFirst > 0
			})
		}
	case inDoubt:
		if i == 0 && !c.again {
			change("a claim is requested again", func(c *keyClaim) { c.asked, c.again = true, true })
		}
		change("a claim is given up", func(c *keyClaim) { c.phase, c.undone = isOver, true })
	case inLine:
		if k := s.keys[c.ahead]; k.claim == none || !r.anyWatch && k.born != c.awaited {
			next := s
			next.look(i)
			step(next, "the end of the claim ahead is told, and the queue read")
		}
		if r.patient {
			return
		}
		change("a claim that waits is given up", release)
	case inside:
		change("a claim is to be released", release)
		if i == 0 && !c.expired && !s.dead {
			change("a claim is not renewed by its client", func(c *keyClaim) {
				c.expired, c.left = true, r.anyExpired
				if !c.second {
					c.phase = isOver
				}
			})
		}
	}
}

// keyFor is the key that a client chooses for a claim; free is false while the one before is under way.
func (s keyState) keyFor(i int) (at uint8, free bool) {
	first := ownerOf(i) * ofEach
	if i%ofFirst == 0 {
		return first, true
	}
	before := s.claims[i-1]
	if !before.left {
		first++
	}
	return first, before.phase == isOver || before.second && before.expired
}

// arrivals are the copies of what was sent about a claim, which may all come now.
func (r keyRules) arrivals(s keyState, i int, step func(keyState, string)) {
	c := s.claims[i]
	if c.asked && s.rev < mostPuts && !(s.dead && ownerOf(i) == 0) {
		next, token := r.request(s, i)
		next.claims[i].asked = c.again
		step(next, "a request arrives, and no answer comes back")
		if c.phase == inDoubt {
			next.claims[i].token = token
			next.look(i)
			step(next, "a request arrives, and is answered")
		}
	}
	if c.released {
		next := s
		if k := s.keys[c.at]; k.claim != none && (k.born == c.token || r.anyRelease) {
			next.takeOut(c.at, i, r.noEnd || c.bare)
		}
		step(next, "a release arrives, and no answer comes back")
		if c.phase == leaves {
			next.claims[i].phase, next.claims[i].left = isOver, !c.expired
			step(next, "a release arrives, and is answered")
		}
	}
	if c.undone {
		next := r.undo(s, i)
		step(next, "an undo arrives, and no answer comes back")
		next.claims[i].barred, next.claims[i].left = true, r.anyUndo
		step(next, "an undo arrives, and is answered")
	}
	if k := s.keys[c.at]; c.expired && k.claim != none && k.lease == ownerOf(i) {
		next := s
		next.takeOut(c.at, i, false)
		step(next, "a claim that was not renewed is taken out")
	}
}

// request is the transaction of a request, and the token of its answer; zero says that the claim has ended.
func (r keyRules) request(s keyState, i int) (next keyState, token uint8) {
	at := s.claims[i].at
	switch k := s.keys[at]; {
	case s.ended[i] && !r.anyID:
		return s, 0
	case int(k.claim) == i && !r.anyKey:
		return s, k.born
	case k.claim != none && int(k.claim) != i:
		s.takeOut(at, i, true) // a claim that is over makes room
	}
	s.rev++
	if s.keys[at].claim == none {
		s.keys[at] = keySeat{claim: int8(i), born: s.rev, lease: ownerOf(i)}
	}
	return s, s.rev
}

// look notes what the queue says about a claim.
func (s *keyState) look(i int) {
	c := &s.claims[i]
	me := s.keys[c.at]
	if c.phase = isOver; me.claim == none || me.born != c.token {
		return
	}
	c.phase, c.ahead, c.awaited = inside, 0, 0
	for at, k := range s.keys {
		if k.claim != none && k.born < me.born && k.born > c.awaited {
			c.ahead, c.awaited, c.phase = uint8(at), k.born, inLine
		}
	}
}

// takeOut takes what is at a key out of the queue, and remembers the end of the claim that the step was meant for.
func (s *keyState) takeOut(at uint8, by int, forget bool) {
	if int(s.keys[at].claim) != by {
		s.other = true
	}
	s.keys[at] = keySeat{claim: none}
	s.ended[by] = s.ended[by] || !forget
}

// undo releases a claim of which nothing is known, or bars its ID.
func (r keyRules) undo(s keyState, i int) keyState {
	if at := s.claims[i].at; s.keys[at].claim != none {
		s.takeOut(at, i, false)
	} else if !r.noBar {
		s.ended[i] = true
	}
	return s
}

// strangers are the client that takes the first claim over, and somebody who breaks one.
func (r keyRules) strangers(s keyState, step func(keyState, string)) {
	c := s.claims[0]
	if c.phase == inside && !c.second && !s.move.on && !s.dead {
		next := s
		next.move = breaking{true, c.at, c.token}
		step(next, "a claim is handed to the second client")
	}
	if k := s.keys[s.move.at]; s.move.on && k.claim != none && k.born == s.move.born {
		next := s
		next.keys[s.move.at].lease = 1
		if next.claims[0].second = true; c.phase == isOver && !c.released {
			next.claims[0].phase = inside
		}
		step(next, "a takeover arrives")
	}
	if k := s.keys[c.at]; !s.broke.on && k.claim == 0 {
		next := s
		next.broke = breaking{true, c.at, k.born}
		step(next, "somebody reads where a claim is")
	}
	if k := s.keys[s.broke.at]; s.broke.on && k.claim != none && (k.born == s.broke.born || r.anyBreak) {
		next := s
		next.takeOut(s.broke.at, 0, false)
		if next.claims[0].phase == inside || next.claims[0].phase == inLine {
			next.claims[0].phase = isOver // the one who breaks a claim answers for that
		}
		step(next, "a claim is broken")
	}
}

// withoutFirst is the state once the lease of the first client has ended.
func (s keyState) withoutFirst() keyState {
	s.dead = true
	for i := range ofFirst {
		if !s.claims[i].second {
			s.claims[i].phase = isOver
		}
	}
	for at, k := range s.keys {
		if k.claim != none && k.lease == 0 {
			s.keys[at] = keySeat{claim: none}
		}
	}
	return s
}
