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
	timer *time.Timer   // of a call of Do, for its limit; nil: it had none

	// Guarded by the Sender's lock. What is after over is read by the caller once it has received from over.
	state     state
	attempt   *attempt // while it is under way
	partly    bool     // a part of it was done
	explained bool     // the driver was given time to say why there is no answer
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
	return c
}

func (c *call) begin(ctx context.Context, op *driver.Op, l *lane, limit, began time.Duration) {
	c.op, c.ctx, c.lane, c.limit, c.until = *op, ctx, l, limit, began+limit
}

// await returns the answer, or gives the call up.
func (s *Sender) await(c *call) Answer {
	defer c.lane.returning.Add(-1)
	late := c.startTimer()
	for {
		select {
		case <-c.over:
			a := c.outcome()
			s.reuse(c)
			return a
		case <-c.ctx.Done():
			s.giveUp(c.ctx.Err(), c)
			return c.outcome()
		case <-late:
			if !s.letExplain(c) {
				return c.outcome()
			}
			c.timer.Reset(c.limit / explainPart)
		}
	}
}

// startTimer returns what receives when the limit has passed.
func (c *call) startTimer() <-chan time.Time {
	switch {
	case c.limit <= 0:
		return nil
	case c.timer == nil:
		c.timer = time.NewTimer(c.limit)
	default:
		c.timer.Reset(c.limit)
	}
	return c.timer.C
}

// outcome is the answer to a call that has ended, or the panic of the driver.
func (c *call) outcome() Answer {
	if c.timer != nil {
		c.timer.Stop()
	}
	if c.panic != nil {
		panic(c.panic)
	}
	return c.answer
}

// reuse keeps a call for another operation. Nothing refers to it once its caller has been told of its end: a call that
// was given up may still be part of an attempt.
func (s *Sender) reuse(c *call) {
	*c = call{over: c.over, timer: c.timer}
	s.unused.Put(c)
}

// explainPart is the part of its limit for which the driver may still explain why there is no answer.
const explainPart = 4

// letExplain gives up a call whose limit has passed. It is true, and does nothing, if the attempt ends with the limit
// of this call: then the driver is about to say what it had waited for. That is so once for each call.
func (s *Sender) letExplain(c *call) bool {
	s.mu.Lock()
	defer s.unlock()
	return s.explains(c)
}

// explains is letExplain for a caller that holds the lock.
func (s *Sender) explains(c *call) bool {
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
