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

// goesAlone reports whether an operation is sent alone, on the goroutine of its caller. Callers that have been answered
// count until they go on: they may ask for something at once, and then the operations go together.
func (s *Sender) goesAlone(l *lane, op *driver.Op) bool {
	switch {
	case !s.isFree(op):
		return false
	case s.traits.Alone == 0:
		return true
	}
	return l.inFlight+int(l.returning.Load()) < s.traits.Alone && l.isEmpty()
}

// isFree reports whether nothing is under way about the claim of an operation.
func (s *Sender) isFree(op *driver.Op) bool {
	return !op.Kind.IsOnClaim() || s.claims.isFree(op.Claim.ID)
}

// leads reports whether an operation is the first that gathers, and may leave.
func (s *Sender) leads(l *lane, op *driver.Op) bool {
	return l.isEmpty() && !l.leaving && s.hasRoom(l) && s.isFree(op)
}

// lead sends an operation that leads. If nothing else has gathered once all goroutines that can run got to, it goes
// alone after all, on the goroutine of its caller. The Sender's lock is held, and released.
func (s *Sender) lead(ctx context.Context, op *driver.Op, l *lane, limit, began time.Duration) Answer {
	l.leaving = true
	s.mu.Unlock()
	runtime.Gosched()
	s.mu.Lock()
	l.leaving = false
	if s.leads(l, op) {
		one := s.beginAlone(ctx, op, l, limit, began)
		s.mu.Unlock()
		return s.alone(one)
	}
	c := s.newCall(ctx, op, l, limit, began)
	s.admit(c)
	s.depart(l) // those that have gathered meanwhile: this one may have to wait for its claim
	s.mu.Unlock()
	return s.await(c)
}

// beginAlone makes an attempt at one operation.
func (s *Sender) beginAlone(ctx context.Context, op *driver.Op, l *lane, limit, began time.Duration) *lone {
	one := lones.Get().(*lone)
	one.ops[0] = *op
	one.op.Kind, one.op.Claim.ID = op.Kind, op.Claim.ID
	one.attempt.lane, one.attempt.began, one.attempt.ctx = l, began, ctx
	if limit > 0 {
		one.shared = s.share(ctx, limit, began)
		one.attempt.ctx = one.shared
	}
	s.claims.addFirst(&one.call)
	l.inFlight++
	s.started(l, &one.attempt)
	return one
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
	s.mu.Lock()
	l := one.attempt.lane
	s.ended(l, &one.attempt)
	if one.shared != nil {
		s.release(one.shared)
	}
	l.inFlight--
	if next := s.claims.removeFirst(&one.call); next != nil {
		s.gather(next)
	}
	s.depart(l)
	s.mu.Unlock()
	if returned { // else the driver may still use it
		one.shared, one.attempt.ctx, one.result = nil, nil, driver.Result{}
		lones.Put(one)
	}
}
