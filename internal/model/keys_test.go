package model_test

import (
	"testing"

	"github.com/holdfast-go/holdfast/internal/model"
)

// Keys of etcd that are used again, which nobody has built: docs/design-notes/keys-of-etcd.md. A claim is put at a key
// that all clients share, or at one of its client where that is taken, and a second key names it by its ID: while it is
// in the queue, that one says where, and afterwards that it has ended.
//
// Modelled: one lock; two clients with two claims each, one after the other; requests, releases and undos, all of which
// may be lost, repeated, and arrive late, again and again; answers that are lost; a watch of the claim ahead; another
// client that takes a claim over; somebody who reads where a claim is and then breaks it; and the end of the first
// client's lease, with all that is on it.
//
// Left out: renewals, by which a claim that waits looks at the queue whatever it was told; shared locks, which read
// more of the queue; the time for which an end is remembered, because a copy is late for less; members that answer from
// the past, which are refused by their revision; and compaction, after which a watch that begins too late reads the
// queue.
func TestKeysInEveryState(t *testing.T) {
	for _, row := range []struct {
		name  string
		rules keyRules
		wrong string
	}{
		{name: "as designed", rules: keyRules{}},
		{name: "as designed, and the first client dies", rules: keyRules{dies: true}},
		{name: "as designed, and nobody gives up in line", rules: keyRules{patient: true}},
		{name: "the end of what was answered at once is not remembered", rules: keyRules{lean: cleanOnly}},
		{name: "the same, and the first client dies", rules: keyRules{lean: cleanOnly, dies: true}},

		{"a request does not ask whether its ID is known", keyRules{anyID: true}, twice},
		{"a release remembers no end", keyRules{noEnd: true}, forNobody},
		{"that of what was sent again is not remembered either", keyRules{lean: allClaims}, forNobody},
		{"an undo of what is not queued bars nothing", keyRules{noBar: true}, forNobody},
		{"a request does not ask whether its key is free", keyRules{anyKey: true}, ofAnother},
		{"a release compares the key alone", keyRules{anyRelease: true}, ofAnother},
		{"an undo goes by the key, and not by the ID", keyRules{anyUndo: true}, ofAnother},
		{"a break goes by the key that was read", keyRules{anyBreak: true}, ofAnother},
		{"a watch sees the key, and not whose it is", keyRules{patient: true, anyWatch: true}, model.NoWayOn},
		{"a claim is taken over without its ID", keyRules{dies: true, leavesID: true}, unknownID},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			m := model.Model[keyState]{Start: row.rules.start(), Next: row.rules.next, Wrong: keyWrong, Good: keyGood}
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
	unknownID = "a claim in the queue is not to be found by its ID"
)

// keyRules are how the protocol differs from the right one.
type keyRules struct {
	dies    bool // the first client
	patient bool // a claim that waits is not given up
	lean    lean

	anyID, noEnd, noBar, anyKey, anyRelease, anyUndo, anyBreak, anyWatch, leavesID bool
}

// lean is of which claims a release remembers no end. Then a client that has an answer knows whether copies of the
// request may be under way: not if it was sent once.
type lean int

const (
	noClaim lean = iota
	cleanOnly
	allClaims
)

const (
	keyClaims = 4 // of the first client, then of the second
	ofFirst   = 2
	keyKeys   = 3 // the shared one, and one of each client
	mostPuts  = 6 // with a wrong rule there is no end of them
	none      = -1
)

// A keyState is a state of everything.
type keyState struct {
	keys   [keyKeys]keySeat
	ids    [keyClaims]keyID
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

type keyID struct {
	kind  idKind
	at    uint8 // the key
	lease uint8
}

type idKind uint8

const (
	idAbsent idKind = iota
	idHere
	idEnded
)

// A breaking is what a step that was read about is to change.
type breaking struct {
	on   bool
	at   uint8
	born uint8
}

// A keyClaim is what there is of a claim outside the server.
type keyClaim struct {
	phase    keyPhase
	at       uint8 // its key and token, once they are known
	token    uint8
	ahead    uint8 // what it watches
	awaited  uint8 // the token there
	asked    bool  // requests may arrive
	released bool  // and releases
	undone   bool  // and undos
	barred   bool  // one was answered, so no other is sent
	second   bool  // the second client has it
	again    bool  // the request was sent again; where that matters
	clean    bool  // no copy of it is under way
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

// start has one claim less of the second client where the number of states grows otherwise.
func (r keyRules) start() (s keyState) {
	for i := range s.keys {
		s.keys[i].claim = none
	}
	if r.lean != noClaim {
		s.claims[keyClaims-1].phase = isOver
	}
	return s
}

// ownerOf is the client that requests a claim, and has its lease.
func ownerOf(claim int) uint8 {
	if claim < ofFirst {
		return 0
	}
	return 1
}

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
	for at, k := range s.keys {
		if k.claim == none {
			continue
		}
		c, id := s.claims[k.claim], s.ids[k.claim]
		willGo := c.undone && !c.barred || c.released && c.token == k.born
		switch {
		case c.phase == isOver && !willGo:
			return forNobody
		case id.kind != idHere || int(id.at) != at:
			return unknownID
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
	switch c.phase {
	case unasked:
		if i == 0 || i == ofFirst || s.claims[i-1].phase == isOver {
			change("a claim is requested", func(c *keyClaim) { c.phase, c.asked = inDoubt, true })
		}
	case inDoubt:
		if r.lean != noClaim && !c.again {
			change("a request is sent again", func(c *keyClaim) { c.again = true })
		}
		change("a claim is given up", func(c *keyClaim) { c.phase, c.undone, c.again = isOver, true, false })
	case inLine:
		if k := s.keys[c.ahead]; k.claim == none || !r.anyWatch && k.born != c.awaited {
			next := s
			next.look(i)
			step(next, "the end of the claim ahead is told, and the queue read")
		}
		if r.patient {
			return
		}
		change("a claim that waits is given up", func(c *keyClaim) { c.phase, c.released = leaves, true })
	case inside:
		change("a claim is to be released", func(c *keyClaim) { c.phase, c.released = leaves, true })
	}
}

// arrivals are the copies of what was sent about a claim, which may all come now.
func (r keyRules) arrivals(s keyState, i int, step func(keyState, string)) {
	c := s.claims[i]
	if c.asked && s.rev < mostPuts && !(s.dead && ownerOf(i) == 0) {
		next, knows := r.request(s, i)
		if knows && c.phase == inDoubt {
			answered := next
			answered.look(i)
			if answered.claims[i].again = false; r.lean != noClaim && !c.again {
				answered.claims[i].asked, answered.claims[i].clean = false, true
			}
			step(answered, "a request arrives, and is answered")
		}
		next.claims[i].again = c.phase == inDoubt && r.lean != noClaim // it has to be, to be answered
		step(next, "a request arrives, and no answer comes back")
	}
	if c.released {
		next := s
		if k := s.keys[c.at]; k.claim != none && (k.born == c.token || r.anyRelease) {
			lean := r.lean == allClaims || r.lean == cleanOnly && c.clean && !c.second
			next.takeOut(int(c.at), i, r.noEnd || lean)
		}
		step(next, "a release arrives, and no answer comes back")
		if c.phase == leaves {
			next.claims[i].phase = isOver
			step(next, "a release arrives, and is answered")
		}
	}
	if c.undone {
		next := r.undo(s, i)
		step(next, "an undo arrives, and no answer comes back")
		next.claims[i].barred = true
		step(next, "an undo arrives, and is answered")
	}
}

// request is the transaction of a request. knows says that its answer tells where the claim is, or that it has ended.
func (r keyRules) request(s keyState, i int) (next keyState, knows bool) {
	own := 1 + ownerOf(i)
	at := uint8(0)
	if s.keys[at].claim != none {
		at = own
	}
	switch {
	case s.ids[i].kind != idAbsent && !r.anyID:
		return s, true
	case s.keys[at].claim != none && !r.anyKey:
		return s, false
	}
	if k := s.keys[at]; k.claim == none {
		s.rev++
		s.keys[at].born = s.rev
	} else if int(k.claim) != i {
		s.other = true
	}
	s.keys[at].claim, s.keys[at].lease = int8(i), ownerOf(i)
	s.ids[i] = keyID{idHere, at, ownerOf(i)}
	return s, true
}

// look notes what the queue says about a claim.
func (s *keyState) look(i int) {
	c, id := &s.claims[i], s.ids[i]
	c.phase = isOver
	if id.kind != idHere {
		return
	}
	me := s.keys[id.at]
	c.at, c.token, c.phase = id.at, me.born, inside
	c.ahead, c.awaited = 0, 0
	for at, k := range s.keys {
		if k.claim != none && k.born < me.born && k.born > c.awaited {
			c.ahead, c.awaited, c.phase = uint8(at), k.born, inLine
		}
	}
}

// takeOut takes a claim out of the queue, and remembers its end. by is the claim that the step was meant for.
func (s *keyState) takeOut(at, by int, forget bool) {
	if int(s.keys[at].claim) != by {
		s.other = true
	}
	s.keys[at] = keySeat{claim: none}
	if s.ids[by] = (keyID{kind: idEnded}); forget {
		s.ids[by] = keyID{}
	}
}

// undo releases a claim of which nothing is known, or bars its ID.
func (r keyRules) undo(s keyState, i int) keyState {
	id, at := s.ids[i], int(s.ids[i].at)
	if r.anyUndo && s.keys[0].claim != none {
		at, id.kind = 0, idHere
	}
	switch {
	case id.kind == idHere:
		s.takeOut(at, i, false)
	case id.kind == idAbsent && !r.noBar:
		s.ids[i].kind = idEnded
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
		next.claims[0].second = true
		if !r.leavesID {
			next.ids[0].lease = 1
		}
		step(next, "a takeover arrives")
	}
	if id := s.ids[0]; !s.broke.on && id.kind == idHere {
		next := s
		next.broke = breaking{true, id.at, s.keys[id.at].born}
		step(next, "somebody reads where a claim is")
	}
	if k := s.keys[s.broke.at]; s.broke.on && k.claim != none && (k.born == s.broke.born || r.anyBreak) {
		next := s
		next.takeOut(int(s.broke.at), 0, false)
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
	for i, id := range s.ids {
		if id.kind == idHere && id.lease == 0 {
			s.ids[i] = keyID{}
		}
	}
	return s
}
