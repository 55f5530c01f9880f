package batch_test

import (
	"testing"

	"github.com/holdfast-go/holdfast/internal/model"
)

// The rules of a Sender, in every order in which what is done under its lock can happen. See doc.go; a step is what
// happens under the lock once, or what the engine, the time or a caller does.
//
// Modelled: four operations in two lanes, the first two of which are on one claim; callers who may give up at any time;
// an engine that answers one by one, rejects batches, does one operation in two parts, hangs, and panics once; attempts
// that stall; a lane in which one operation goes alone, one attempt may be under way, and one may be stalled.
//
// Left out: how long anything takes, the order in which operations leave (all leave together), operations of Go (which
// differ from those of Do in who is told), and the values of contexts.
func TestSenderInEveryState(t *testing.T) {
	for _, row := range []struct {
		name  string
		rules senderRules
		wrong string
	}{
		{name: "as it is", rules: senderRules{}},

		{"1: a lane waits for the attempts of another one", senderRules{lanesShare: true}, keptWaiting},
		{"2: one goes alone while others have gathered", senderRules{overtakes: true}, overtaken},
		{"3: what has gathered leaves whatever is under way", senderRules{noBound: true}, tooMany},
		{"3: nobody looks when an attempt has ended", senderRules{endsUnseen: true}, keptWaiting},
		{"3: nobody looks when an operation has gathered", senderRules{gathersUnseen: true}, keptWaiting},
		{"4: an attempt that is stalled counts", senderRules{stalledCount: true}, keptWaiting},
		{"4: nobody looks when an attempt stalls", senderRules{stallsUnseen: true}, keptWaiting},
		{"4: any number may be stalled", senderRules{anyStalled: true}, tooMany},
		{"5: operations on a claim are not kept apart", senderRules{claimsMix: true}, together},
		{"5: a claim is free when its caller gives up", senderRules{freeEarly: true}, together},
		{"5: a claim that is given up while it gathers stays taken", senderRules{neverFree: true}, behindNobody},
		{"6: what is given up while it gathers is sent", senderRules{staysIn: true}, sentLate},
		{"6: what is given up under way counts as unsent", senderRules{claimsUnsent: true}, sentLate},
		{"6: an attempt goes on though nobody waits", senderRules{neverCancels: true}, forNobody},
		{"6: an attempt is cancelled when one gives up", senderRules{cancelsEarly: true}, cancelledEarly},
		{"7: a rejected operation gathers again", senderRules{rejectedGather: true}, rejectedTwice},
		{"7: the rest of an operation gathers", senderRules{restGathers: true}, restWaits},
		{"7: what was done in part counts as unsent", senderRules{partUnsent: true}, sentLate},
		{"8: a panic is told to nobody", senderRules{panicLost: true}, untold},
		{"8: a panic is told to all", senderRules{panicAll: true}, toldTwice},
		{"8: a panic leaves claims taken", senderRules{panicKeeps: true}, behindNobody},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			m := model.Model[senderState]{
				Next: row.rules.next, Wrong: senderWrong, Good: senderGood, Alike: senderAlike,
			}
			if row.wrong == "" {
				model.Holds(t, m)
			} else {
				model.Breaks(t, m, row.wrong)
			}
		})
	}
}

const (
	keptWaiting    = "an operation waits though there is room for it"
	overtaken      = "an operation was overtaken by one of its lane"
	tooMany        = "more attempts are under way than may be"
	together       = "two operations on one claim are under way together"
	behindNobody   = "an operation waits for one that has ended"
	sentLate       = "an operation was or is sent whose caller knows that it was not"
	forNobody      = "an attempt goes on for which nobody waits"
	cancelledEarly = "an attempt was cancelled for which somebody waits"
	rejectedTwice  = "an operation shares a batch that was rejected before"
	restWaits      = "the rest of an operation waits for others"
	untold         = "a panic was told to nobody, though somebody waits"
	toldTwice      = "a panic was told to two callers"
)

// senderRules are how the Sender differs from the right one.
type senderRules struct {
	lanesShare, overtakes, noBound, endsUnseen, gathersUnseen, stalledCount, stallsUnseen, anyStalled,
	claimsMix, freeEarly, neverFree, staysIn, claimsUnsent, neverCancels, cancelsEarly,
	rejectedGather, restGathers, partUnsent, panicLost, panicAll, panicKeeps bool
}

const (
	modelCalls    = 4
	modelAttempts = 4
	modelLanes    = 2
	inParts       = 2 // the operation that is done in two parts
)

// modelLane and modelClaim are those of each operation.
var (
	modelLane  = [modelCalls]int{0, 1, 0, 0}
	modelClaim = [modelCalls]int{0, 0, 1, 2}
)

// A senderState is a state of everything. Attempts are numbered from 1.
type senderState struct {
	calls    [modelCalls]modelCall
	attempts [modelAttempts]modelAttempt
	lanes    [modelLanes]laneState
	panics   panicState
	overtook bool
}

type laneState struct {
	leaving  bool  // a goroutine is about to take what has gathered
	hurrying bool  // or what goes again
	armed    bool  // the alarm is set
	looking  uint8 // so many goroutines will look
}

type modelCall struct {
	at       callPlace
	told     told
	attempt  uint8 // whose operation it is, also once its caller has given up; 0: none
	rejected bool  // its batch was
	partly   bool  // a part of it was done
	sent     bool  // it may have been applied
}

type callPlace uint8

const (
	isAway callPlace = iota
	isBehind
	isGathered
	isRejected
	isAgain
	isUnderWay
	isDone
)

type told uint8

const (
	toldNothing told = iota
	toldAnswer
	toldUnsent
	toldUnknown
	toldPanic
)

type modelAttempt struct {
	live      bool
	lane      uint8
	size      uint8 // of its batch
	again     bool  // it is at the rest of an operation
	stalled   bool
	cancelled bool
}

type panicState struct{ was, lost bool }

// next does all steps that may follow.
func (r senderRules) next(s senderState, step func(senderState, string)) {
	for i := range s.calls {
		r.nextOfCall(s, i, step)
	}
	for n := uint8(1); n <= modelAttempts; n++ {
		if s.attempts[n-1].live {
			r.nextOfAttempt(s, n, step)
		}
	}
	for l := range s.lanes {
		r.nextOfLane(s, l, step)
	}
}

func (r senderRules) nextOfCall(s senderState, i int, step func(senderState, string)) {
	switch c := &s.calls[i]; c.at {
	case isAway:
		r.arrives(&s, i)
		step(s, "an operation comes")
	case isBehind, isGathered, isRejected, isAgain:
		c.told = toldUnsent
		if c.partly && !r.partUnsent {
			c.told = toldUnknown
		}
		if !r.staysIn {
			c.at = isDone
			if !r.neverFree {
				r.frees(&s, i)
			}
		}
		step(s, "a caller gives up before its operation leaves")
	case isUnderWay:
		c.at, c.told = isDone, toldUnknown
		if r.claimsUnsent {
			c.told = toldUnsent
		}
		r.cancels(&s, c.attempt)
		if r.freeEarly {
			r.frees(&s, i)
		}
		step(s, "a caller gives up while its operation is under way")
	}
}

// arrives decides what becomes of a new operation.
func (r senderRules) arrives(s *senderState, i int) {
	l := modelLane[i]
	behind := s.isTaken(i) && !r.claimsMix
	switch {
	case behind:
		s.calls[i].at = isBehind
	case s.inFlight(l) < 1 && (!s.waits(l) || r.overtakes):
		s.overtook = s.overtook || s.waits(l)
		s.begins(l, i)
	default:
		r.gathers(s, i, isGathered)
	}
}

// gathers adds an operation to those of its lane that wait to leave.
func (r senderRules) gathers(s *senderState, i int, at callPlace) {
	s.calls[i].at, s.calls[i].attempt = at, 0
	if !r.gathersUnseen {
		r.departs(s, modelLane[i])
	}
}

// departs has what waits leave, or sets the alarm.
func (r senderRules) departs(s *senderState, l int) {
	lane := &s.lanes[l]
	switch {
	case !s.waits(l) || lane.leaving:
	case r.hasRoom(s, l):
		lane.leaving = true
	default:
		all, stalled, _ := s.attemptsOf(l)
		lane.armed = lane.armed || all > stalled && stalled == 0 && !r.stallsUnseen
	}
}

func (r senderRules) hasRoom(s *senderState, l int) bool {
	counted, stalled := 0, 0
	for _, a := range s.attempts {
		switch {
		case !a.live || int(a.lane) != l && !r.lanesShare:
		case a.stalled && !r.stalledCount && (stalled == 0 || r.anyStalled):
			stalled++
		default:
			counted++
		}
	}
	return counted < 1 || r.noBound
}

// nextOfLane has the goroutines of a lane go on.
func (r senderRules) nextOfLane(s senderState, l int, step func(senderState, string)) {
	if s.lanes[l].leaving {
		next := s
		next.lanes[l].leaving = false
		if next.begins(l, next.leave(l)...) {
			r.departs(&next, l)
			step(next, "what has gathered leaves")
		}
	}
	if s.lanes[l].hurrying {
		next := s
		next.lanes[l].hurrying = false
		if rest := next.all(l, isAgain); next.begins(l, rest...) {
			if len(rest) > 0 {
				next.attempts[next.calls[rest[0]].attempt-1].again = true
			}
			step(next, "what goes again leaves")
		}
	}
	if s.lanes[l].looking > 0 {
		next := s
		next.lanes[l].looking--
		r.departs(&next, l)
		step(next, "a goroutine looks for more")
	}
	if s.lanes[l].armed {
		next := s
		next.lanes[l].armed = false
		r.departs(&next, l)
		step(next, "the alarm goes off")
	}
}

func (r senderRules) nextOfAttempt(s senderState, n uint8, step func(senderState, string)) {
	a := s.attempts[n-1]
	if !a.stalled && s.waits(int(a.lane)) { // else it makes no difference
		next := s
		next.attempts[n-1].stalled = true
		step(next, "an attempt takes long")
	}
	for i, c := range s.calls {
		if c.attempt == n {
			r.results(s, n, i, step)
		}
	}
	next := s
	next.ends(n, r, func(c *modelCall) { c.told = toldUnknown })
	if a.cancelled {
		step(next, "the driver returns")
	}
	if !s.panics.was {
		r.panics(s, n, step)
	}
}

// results answers one operation of an attempt.
func (r senderRules) results(s senderState, n uint8, i int, step func(senderState, string)) {
	wanted := s.calls[i].at == isUnderWay
	answered := s
	answered.calls[i].sent = true
	answered.result(i)
	if wanted {
		answered.calls[i].at, answered.calls[i].told = isDone, toldAnswer
	}
	r.frees(&answered, i)
	r.goesOn(&answered, n)
	step(answered, "a result comes")

	if s.attempts[n-1].size > 1 {
		rejected := s
		rejected.result(i)
		rejected.calls[i].rejected = true
		switch {
		case !wanted:
			r.frees(&rejected, i)
		case r.rejectedGather:
			r.gathers(&rejected, i, isGathered)
		default:
			r.gathers(&rejected, i, isRejected)
		}
		r.goesOn(&rejected, n)
		step(rejected, "a batch is rejected")
	}
	if i == inParts && !s.calls[i].partly {
		part := s
		part.result(i)
		part.calls[i].partly, part.calls[i].sent = true, true
		switch {
		case !wanted:
			r.frees(&part, i)
		case r.restGathers:
			r.gathers(&part, i, isGathered)
		default:
			part.calls[i].at = isAgain
			part.lanes[modelLane[i]].hurrying = true
		}
		r.goesOn(&part, n)
		step(part, "a part was done")
	}
}

// panics has the driver panic in an attempt.
func (r senderRules) panics(s senderState, n uint8, step func(senderState, string)) {
	s.panics.was = true
	first, wanted := true, false
	for _, i := range s.of(n) {
		wanted = wanted || s.calls[i].at == isUnderWay
	}
	s.panics.lost = wanted && r.panicLost
	keeps := r
	keeps.neverFree = r.panicKeeps
	s.ends(n, keeps, func(c *modelCall) {
		c.told = toldUnknown
		if first && !r.panicLost || r.panicAll {
			c.told, first = toldPanic, false
		}
	})
	step(s, "the driver panics")
}

// goesOn goes on with an attempt of which an operation has its result: after the last the driver returns.
func (r senderRules) goesOn(s *senderState, n uint8) {
	if len(s.of(n)) == 0 {
		s.ends(n, r, nil)
	} else {
		r.cancelsIfUnwanted(s, n)
	}
}

// cancels cancels an attempt of which an operation was given up, if nobody waits for it any more.
func (r senderRules) cancels(s *senderState, n uint8) {
	if r.cancelsEarly {
		s.attempts[n-1].cancelled = true
	}
	r.cancelsIfUnwanted(s, n)
}

func (r senderRules) cancelsIfUnwanted(s *senderState, n uint8) {
	if !r.neverCancels && s.isForNobody(n) {
		s.attempts[n-1].cancelled = true
	}
}

// frees ends what an operation was to its claim, and has the next one gather.
func (r senderRules) frees(s *senderState, i int) {
	if s.isTaken(i) && !r.freeEarly {
		return // it stood behind another one
	}
	for j := range s.calls {
		if j != i && modelClaim[j] == modelClaim[i] && s.calls[j].at == isBehind {
			r.gathers(s, j, isGathered)
			return
		}
	}
}

// isTaken reports whether another operation is on the claim of this one, and is not behind one.
func (s *senderState) isTaken(i int) bool {
	for j, c := range s.calls {
		if j != i && modelClaim[j] == modelClaim[i] && (c.attempt != 0 || c.at > isBehind && c.at < isUnderWay) {
			return true
		}
	}
	return false
}

// begins makes an attempt of some operations. It is false if there are too many attempts for the model.
func (s *senderState) begins(l int, calls ...int) bool {
	if len(calls) == 0 {
		return true
	}
	for n := range s.attempts {
		if s.attempts[n].live {
			continue
		}
		s.attempts[n] = modelAttempt{live: true, lane: uint8(l), size: uint8(len(calls))}
		for _, i := range calls {
			s.calls[i].at, s.calls[i].attempt = isUnderWay, uint8(n+1)
		}
		return true
	}
	return false
}

// result takes an operation out of its attempt.
func (s *senderState) result(i int) { s.calls[i].attempt = 0 }

// ends ends an attempt, and tells those who wait for it.
func (s *senderState) ends(n uint8, r senderRules, tell func(*modelCall)) {
	for _, i := range s.of(n) {
		c := &s.calls[i]
		s.result(i)
		c.sent = true
		if c.at == isUnderWay {
			c.at = isDone
			tell(c)
		}
		if !r.neverFree {
			r.frees(s, i)
		}
	}
	if !r.endsUnseen {
		s.lanes[s.attempts[n-1].lane].looking++
	}
	s.attempts[n-1] = modelAttempt{}
}

// of returns the operations of an attempt that have no result.
func (s *senderState) of(n uint8) (calls []int) {
	for i, c := range s.calls {
		if c.attempt == n {
			calls = append(calls, i)
		}
	}
	return calls
}

func (s *senderState) all(l int, at callPlace) (calls []int) {
	for i, c := range s.calls {
		if c.at == at && modelLane[i] == l {
			calls = append(calls, i)
		}
	}
	return calls
}

// leave returns what leaves a lane together.
func (s *senderState) leave(l int) []int {
	if rejected := s.all(l, isRejected); len(rejected) > 0 {
		return rejected[:1]
	}
	return s.all(l, isGathered)
}

func (s *senderState) waits(l int) bool {
	return len(s.all(l, isGathered)) > 0 || len(s.all(l, isRejected)) > 0
}

func (s *senderState) inFlight(l int) (n int) {
	for i, c := range s.calls {
		if c.attempt != 0 && modelLane[i] == l {
			n++
		}
	}
	return n
}

// isForNobody reports whether nobody waits for what is under way in an attempt.
func (s *senderState) isForNobody(n uint8) bool {
	calls := s.of(n)
	for _, i := range calls {
		if s.calls[i].at == isUnderWay {
			return false
		}
	}
	return len(calls) > 0
}

// attemptsOf counts the attempts of a lane, those of them that are stalled, and those at the rest of an operation.
func (s *senderState) attemptsOf(l int) (all, stalled, again int) {
	for _, a := range s.attempts {
		if !a.live || int(a.lane) != l {
			continue
		}
		all++
		if a.stalled {
			stalled++
		}
		if a.again {
			again++
		}
	}
	return all, stalled, again
}

// senderAlike forgets what matters no more of operations that are over, and numbers the attempts by their operations.
func senderAlike(s senderState) senderState {
	alike := s
	alike.attempts = [modelAttempts]modelAttempt{}
	var number [modelAttempts + 1]uint8
	last := uint8(0)
	for i, c := range s.calls {
		if c.at == isDone && c.attempt == 0 && c.told != toldPanic && !(c.told == toldUnsent && c.sent) {
			alike.calls[i] = modelCall{at: isDone}
		}
		if c.attempt == 0 {
			continue
		}
		if number[c.attempt] == 0 {
			last++
			number[c.attempt] = last
			alike.attempts[last-1] = s.attempts[c.attempt-1]
		}
		alike.calls[i].attempt = number[c.attempt]
	}
	return alike
}

// senderGood is a state in which nothing is left to do.
func senderGood(s senderState) bool {
	for _, c := range s.calls {
		if c.at != isDone {
			return false
		}
	}
	return s.attempts == [modelAttempts]modelAttempt{}
}

func senderWrong(s senderState) string {
	for l := range s.lanes {
		if wrong := s.wrongLane(l); wrong != "" {
			return wrong
		}
	}
	panics := 0
	for i, c := range s.calls {
		if wrong := s.wrongCall(i, c); wrong != "" {
			return wrong
		}
		if c.told == toldPanic {
			panics++
		}
	}
	for n := uint8(1); n <= modelAttempts; n++ {
		switch a := s.attempts[n-1]; {
		case !a.live:
		case s.isForNobody(n) && !a.cancelled:
			return forNobody
		case a.cancelled && !s.isForNobody(n) && len(s.of(n)) > 0:
			return cancelledEarly
		}
	}
	switch {
	case s.overtook:
		return overtaken
	case s.panics.lost:
		return untold
	case panics > 1:
		return toldTwice
	}
	return ""
}

func (s *senderState) wrongLane(l int) string {
	lane := s.lanes[l]
	all, stalled, again := s.attemptsOf(l)
	someoneLooks := lane.leaving || lane.looking > 0 || lane.armed && stalled > 0
	switch {
	case s.waits(l) && all-min(stalled, 1) < 1 && !someoneLooks:
		return keptWaiting
	case all-again > 2: // one that counts, and one that is stalled
		return tooMany
	}
	return ""
}

func (s *senderState) wrongCall(i int, c modelCall) string {
	for j, d := range s.calls {
		if j > i && modelClaim[j] == modelClaim[i] && c.attempt != 0 && d.attempt != 0 {
			return together
		}
	}
	switch {
	case c.at == isBehind && !s.isTaken(i):
		return behindNobody
	case c.told == toldUnsent && (c.sent || c.attempt != 0):
		return sentLate
	case c.rejected && c.attempt != 0 && s.attempts[c.attempt-1].size > 1 && !c.partly:
		return rejectedTwice
	case c.partly && c.at == isGathered, c.at == isAgain && !s.lanes[modelLane[i]].hurrying:
		return restWaits
	}
	return ""
}
