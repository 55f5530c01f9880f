package batch

import (
	"context"
	"runtime"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// A lone is an operation that is sent alone, on the goroutine of its caller.
type lone struct {
	call             // stands for it among those on its claim
	attempt  attempt // stands for it among the attempts of the lane
	shared   *sharedContext
	ops      [1]driver.Op
	result   driver.Result
	answered bool
	report   func(int, driver.Result)
}

// lones are used again, because most operations are sent alone.
var lones = sync.Pool{New: func() any {
	one := &lone{}
	one.report = func(_ int, r driver.Result) { one.result, one.answered = r, true }
	return one
}}

// goesAlone reports whether an operation is sent alone, on the goroutine of its caller, if its claim is free. Callers
// that have been answered count until they go on: they may ask for something at once, and then the operations go
// together.
func (s *Sender) goesAlone(l *lane) bool {
	return s.traits.Alone == 0 || l.inFlight+int(l.returning.Load()) < s.traits.Alone && l.isEmpty()
}

// leads reports whether an operation is the first that gathers, and may leave.
func (s *Sender) leads(l *lane) bool { return l.isEmpty() && !l.leaving && s.hasRoom(l) }

// letGather lets all goroutines run that can, and reports whether an operation leads still: then it goes alone after
// all. The Sender's lock is held, but not meanwhile.
func (s *Sender) letGather(l *lane) bool {
	l.leaving = true
	s.mu.Unlock()
	runtime.Gosched()
	s.mu.Lock()
	l.leaving = false
	s.depart(l) // what has gathered: the operation that led may have to wait for its claim
	return s.leads(l)
}

// beginAlone makes an attempt at one operation, unless something is under way about its claim: then it returns nil. The
// Sender's lock need not be held.
func (s *Sender) beginAlone(ctx context.Context, op *driver.Op, limit, began time.Duration) *lone {
	hash := s.claims.hash(op.Claim.ID)
	st := s.claims.stripe(hash)
	st.mu.Lock()
	defer st.mu.Unlock()
	if op.Kind.IsOnClaim() && st.first(op.Claim.ID, hash) != nil {
		return nil
	}
	one := lones.Get().(*lone)
	one.hash, one.ops[0] = hash, *op
	one.op.Kind, one.op.Claim.ID = op.Kind, op.Claim.ID
	one.attempt.began, one.attempt.ctx = began, ctx
	if limit > 0 {
		one.shared = st.share(ctx, limit, began)
		one.attempt.ctx = one.shared
	}
	if op.Kind.IsOnClaim() {
		st.put(&one.call)
	}
	return one
}

// count counts an operation that was sent alone among those of its lane.
func (s *Sender) count(one *lone, l *lane) {
	one.attempt.lane = l
	l.inFlight++
	s.started(l, &one.attempt)
}

// alone makes the attempt. A panic of the driver goes on up to the caller.
func (s *Sender) alone(one *lone) (a Answer) {
	returned := false
	defer func() { s.endAlone(one, returned) }()
	a = s.askAlone(one)
	returned = true
	return a
}

// askAlone repeats the operation while a part of it was done.
func (s *Sender) askAlone(one *lone) Answer {
	ctx, sent := one.attempt.ctx, one.attempt.began
	for partly := false; ; partly = true {
		one.answered = false
		s.driver.Do(ctx, one.ops[:], one.report)
		switch {
		case !one.answered:
			return Answer{Result: driver.Result{Err: errNoResult}, Sent: sent}
		case !one.result.Again || ctx.Err() != nil:
			return answerOf(one.result, partly, ctx, sent)
		}
		sent = s.now()
	}
}

// endAlone ends the attempt, and has what waits for that leave.
func (s *Sender) endAlone(one *lone, returned bool) {
	if one.attempt.lane != nil {
		s.uncount(one)
	}
	if next := s.leaveClaim(one); next != nil {
		s.mu.Lock()
		s.takesTurn(next)
		s.mu.Unlock()
	}
	if returned { // else the driver may still use it
		one.shared, one.attempt.ctx, one.attempt.lane, one.result = nil, nil, nil, driver.Result{}
		lones.Put(one)
	}
}

// uncount ends what count began.
func (s *Sender) uncount(one *lone) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := one.attempt.lane
	s.ended(l, &one.attempt)
	l.inFlight--
	s.depart(l)
}

// leaveClaim takes the operation from its claim, and returns the one whose turn it is; nil if there is none.
func (s *Sender) leaveClaim(one *lone) *call {
	st := s.claims.stripe(one.hash)
	st.mu.Lock()
	defer st.mu.Unlock()
	if one.shared != nil {
		one.shared.release()
	}
	if !one.op.Kind.IsOnClaim() {
		return nil
	}
	return st.removeFirst(&one.call)
}
