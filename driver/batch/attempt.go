package batch

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// An attempt is one call of the driver's Do.
type attempt struct {
	lane   *lane
	ops    *[]driver.Op // of opsRooms
	ctx    context.Context
	cancel context.CancelFunc
	began  time.Duration
	until  time.Duration // when it ends

	// Guarded by the Sender's lock.
	calls      []*call // nil once one has a result
	unanswered int     // calls without a result
	wanted     int     // those of them that nobody has given up
}

// send makes an attempt. It returns when the driver has, whatever it did.
func (s *Sender) send(a *attempt) {
	returned := false
	defer func() {
		var p *Panic
		if !returned {
			p = caught(recover())
		}
		s.finish(a, returned, p)
	}()
	s.driver.Do(a.ctx, *a.ops, func(i int, r driver.Result) { s.answered(a, i, r) })
	returned = true
	a.leaveRoom() // only here: a driver that has not returned may still use it
}

// opsRooms has slices for the operations of attempts, to be used again: a driver does not keep them.
var opsRooms = sync.Pool{New: func() any { return new([]driver.Op) }}

// takeRoom makes room for so many operations.
func (a *attempt) takeRoom(n int) {
	a.ops = opsRooms.Get().(*[]driver.Op)
	*a.ops = slices.Grow(*a.ops, n)[:n]
}

func (a *attempt) leaveRoom() {
	clear(*a.ops)
	*a.ops = (*a.ops)[:0]
	opsRooms.Put(a.ops)
}

// answered passes on a result of an attempt. A second one for the same operation is ignored.
func (s *Sender) answered(a *attempt, i int, r driver.Result) {
	s.mu.Lock()
	defer s.unlock()
	c := a.calls[i]
	if c == nil {
		return
	}
	a.calls[i] = nil
	a.unanswered--
	a.lane.inFlight--
	gone := c.state == done
	if !gone {
		a.unwanted()
	}
	alone := len(a.calls) == 1
	switch {
	case gone:
		s.settle(c)
	case r.Again && a.ctx.Err() == nil:
		c.partly = true
		s.hurry(c)
	case errors.Is(r.Err, driver.ErrBatchRejected) && !alone:
		s.reject(c)
	default:
		s.settle(c)
		s.end(c, answerOf(r, c.partly, a.ctx, a.began)) // last: its caller may use it again
	}
}

// answerOf is the answer with a result. An operation of which a part was done has an unknown outcome if no time is left
// for its rest, or if the rest was not sent.
func answerOf(r driver.Result, partly bool, ctx context.Context, began time.Duration) Answer {
	switch {
	case r.Again:
		r = driver.Result{Err: ctx.Err()}
	case partly && errors.Is(r.Err, driver.ErrUnsent):
		r.Err = &partlyDone{r.Err}
	}
	return Answer{Result: r, Sent: began}
}

// A partlyDone is the error of an operation whose rest was not sent. It has the words of that error, and does not match
// [driver.ErrUnsent].
type partlyDone struct{ rest error }

func (p *partlyDone) Error() string { return "a part was done, and for the rest: " + p.rest.Error() }

// As finds what the server has said.
func (p *partlyDone) As(target any) bool { return errors.As(p.rest, target) }

// unwanted counts a call that is not waited for any more. When nobody waits for what is under way, it is cancelled.
func (a *attempt) unwanted() {
	if a.wanted--; a.wanted == 0 && a.unanswered > 0 {
		a.cancel()
	}
}

// finish ends an attempt: what has no result yet gets none.
func (s *Sender) finish(a *attempt, returned bool, p *Panic) {
	s.mu.Lock()
	defer s.unlock()
	s.ended(a.lane, a)
	a.cancel()
	err := errNoResult
	switch {
	case p != nil:
		err = s.blame(a, p)
	case !returned:
		err = errExited
		s.depart(a.lane) // the goroutine will not
	}
	for i, c := range a.calls {
		if c == nil {
			continue
		}
		a.calls[i] = nil
		a.lane.inFlight--
		gone := c.state == done
		s.settle(c)
		if !gone {
			s.end(c, Answer{Result: driver.Result{Err: err}, Sent: a.began}) // last: its caller may use it again
		}
	}
}
