package batch

import (
	"context"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// A call is one operation of a caller.
type call struct {
	op    driver.Op
	ctx   context.Context
	lane  *lane
	limit time.Duration // 0: none
	until time.Duration // when limit has passed

	group *Group        // of a call of Go
	tell  func(Answer)  // of a call of Go
	over  chan struct{} // of a call of Do: has an element once there is an answer
	timer *time.Timer   // of a call of Do: looks at its limit; nil: none had one yet

	// Guarded by the Sender's lock. What is after over is read by the caller once it has received from over.
	state     state
	attempt   *attempt      // while it is under way
	partly    bool          // a part of it was done
	explained bool          // the driver was given time to say why there is no answer
	abandoned bool          // it was given up, so something may refer to it still
	alarm     time.Duration // when the timer goes off; 0: it does not
	answer    Answer
	panic     *Panic

	hash uint64 // of the claim's ID; see claims

	// Guarded by the lock of the claim's stripe.
	behind *call // the next one on the same claim
	next   *call // the first one on another claim
}

// A state is how far a call has come.
type state uint8

const (
	waiting  state = iota // for the end of another one on its claim
	gathered              // to leave
	underWay              // in an attempt
	done                  // it has its answer, or was given up
)

// newCall makes a call of Do.
func (s *Sender) newCall(ctx context.Context, op *driver.Op, l *lane, limit, began time.Duration) *call {
	c, _ := s.unused.Get().(*call)
	if c == nil {
		c = &call{over: make(chan struct{}, 1)}
	}
	c.begin(ctx, op, l, limit, began)
	s.setAlarm(c)
	return c
}

func (c *call) begin(ctx context.Context, op *driver.Op, l *lane, limit, began time.Duration) {
	c.op, c.ctx, c.lane, c.limit, c.until = *op, ctx, l, limit, began+limit
	c.state, c.partly, c.explained = waiting, false, false
}

// await returns the answer, or gives the call up when its context ends. When its limit has passed, its timer does so.
func (s *Sender) await(c *call) Answer {
	defer c.lane.returning.Add(-1)
	select {
	case <-c.over:
		a := c.outcome()
		if !c.abandoned {
			s.reuse(c)
		}
		return a
	case <-c.ctx.Done():
		s.giveUp(c.ctx.Err(), c)
		return c.outcome()
	}
}

// outcome is the answer to a call that has ended, or the panic of the driver.
func (c *call) outcome() Answer {
	if c.panic != nil {
		panic(c.panic)
	}
	return c.answer
}

// reuse keeps a call for another operation. Its timer may go off meanwhile, so what that reads is left as it is.
func (s *Sender) reuse(c *call) {
	c.op, c.ctx, c.lane, c.attempt, c.answer = driver.Op{}, nil, nil, nil, Answer{}
	s.unused.Put(c)
}

// setAlarm has the timer of a call go off when its limit has passed, or before. A timer that is set already stays: it
// looks when it goes off, so that calls which are used again seldom cost a change of a timer.
func (s *Sender) setAlarm(c *call) {
	switch {
	case c.limit <= 0 || c.alarm > 0 && c.alarm <= c.until:
		return
	case c.timer == nil:
		c.timer = time.AfterFunc(c.limit, func() { s.wentOff(c) })
	default:
		c.timer.Reset(c.limit)
	}
	c.alarm = c.until
}

// wentOff gives up a call whose limit has passed.
func (s *Sender) wentOff(c *call) {
	s.mu.Lock()
	defer s.unlock()
	at := c.alarm
	c.alarm = 0
	switch {
	case c.state == done || c.limit <= 0:
		return
	case c.until > at: // it was used again since the timer was set
		c.alarm = c.until
	case s.letsExplain(c):
		c.alarm = at + c.limit/explainPart
	default:
		return
	}
	c.timer.Reset(c.alarm - at)
}

// explainPart is the part of its limit for which the driver may still explain why there is no answer.
const explainPart = 4

// letsExplain gives up a call whose limit has passed. It is true, and does nothing, if the attempt ends with the limit
// of this call: then the driver is about to say what it had waited for. That is so once for each call. The Sender's
// lock is held.
func (s *Sender) letsExplain(c *call) bool {
	if c.state == underWay && c.until >= c.attempt.until && !c.explained {
		c.explained = true
		return true
	}
	s.abandon(c, context.DeadlineExceeded)
	return false
}

// giveUp ends a call, unless it has its answer.
func (s *Sender) giveUp(why error, c *call) {
	s.mu.Lock()
	defer s.unlock()
	s.abandon(c, why)
}

// abandon ends a call without an answer, unless there is one.
func (s *Sender) abandon(c *call, why error) {
	if c.state == done {
		return
	}
	c.abandoned = true
	if c.timer != nil {
		c.timer.Stop()
	}
	switch c.state {
	case waiting, gathered:
		if c.state == gathered {
			c.lane.drop(c)
		}
		if c.partly {
			s.end(c, Answer{Result: driver.Result{Err: why}})
		} else {
			s.end(c, unsent(why))
		}
		s.settle(c)
	case underWay: // another operation on its claim waits for the end of the attempt
		a := c.attempt
		s.end(c, Answer{Result: driver.Result{Err: why}, Sent: a.began})
		a.unwanted()
	}
}

// end gives a call its answer.
func (s *Sender) end(c *call, a Answer) {
	c.state, c.answer = done, a
	if c.group == nil {
		c.lane.returning.Add(1)
		c.over <- struct{}{} // it has room
		return
	}
	c.group.answered()
	s.told = append(s.told, c)
}

// unlock releases the Sender's lock, and then tells callers of Go what came of their calls.
func (s *Sender) unlock() {
	told, astray := s.told, s.astray
	s.told, s.astray = nil, nil
	s.mu.Unlock()
	for _, c := range told {
		c.tell(c.answer)
	}
	if astray != nil {
		s.stray(astray)
	}
}
