package batch

import (
	"context"
	"math"
	"math/bits"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/stack"
)

// A class is what the operations of a lane have in common.
type class uint8

const (
	changes class = iota
	renewals
	reads
	classes = iota
)

func classOf(op *driver.Op) class {
	switch op.Kind {
	case driver.OpValue, driver.OpQueue, driver.OpWatch, driver.OpLife:
		return reads
	case driver.OpRequest:
		if op.Claim.Token != 0 || op.Brief {
			return renewals
		}
	}
	return changes
}

// A laneKey tells which operations may share a batch.
type laneKey struct {
	class class
	least int // see magnitude
	shard string
}

// magnitude is the order of magnitude of a limit. Renewals of one lane have limits of which none is more than twice
// another, unless all are long. So one with little time that is given up does not keep the next one of its claim
// waiting for a batch with much time.
func magnitude(limit time.Duration) int {
	if limit <= 0 {
		return magnitudes - 1 // there is none
	}
	return min(bits.Len64(uint64(limit/leastLimit)), magnitudes-1)
}

// Limits below the least are of one magnitude, and so are those of more than some seconds.
const (
	leastLimit = 50 * time.Millisecond
	magnitudes = 8
)

// A lane has operations that may share a batch. The Sender's lock guards it.
type lane struct {
	inFlight  int          // operations that are under way
	returning atomic.Int32 // calls of Do that have ended, and whose callers have not gone on yet
	attempts  []*attempt   // that are under way, oldest first; kept only where their number is bounded
	gathered  []*call      // in the order in which they leave
	rejected  []*call      // that leave alone, before those
	again     []*call      // that leave at once, whatever is under way

	leaving  bool          // a goroutine is about to take what has gathered
	hurrying bool          // a goroutine is about to take what goes again
	least    time.Duration // the shortest limit of those that have gathered; 0: there is no limit
	pace     pace
}

// laneKey tells to which lane an operation belongs. The Sender's lock is not held, because the driver is asked.
func (s *Sender) laneKey(op *driver.Op, limit time.Duration) (key laneKey) {
	if key.class = classOf(op); key.class == renewals {
		key.least = magnitude(limit)
	}
	if s.sharder != nil && op.Claim.Name != "" {
		key.shard = s.sharder.Shard(op.Claim.Name)
	}
	return key
}

// lane returns a lane.
func (s *Sender) lane(key laneKey) *lane {
	if key.shard == "" {
		l := &s.lanes[key.class][key.least]
		if *l == nil {
			*l = &lane{}
		}
		return *l
	}
	l := s.shards[key]
	if l == nil {
		if s.shards == nil {
			s.shards = make(map[laneKey]*lane)
		}
		l = &lane{}
		s.shards[key] = l
	}
	return l
}

// mostTogether is how many operations share a batch at most.
const mostTogether = 512

// fewTogether is how many have room at first.
const fewTogether = 8

// isEmpty reports whether nothing waits to leave within the bound.
func (l *lane) isEmpty() bool { return len(l.gathered) == 0 && len(l.rejected) == 0 }

// gather adds a call to those that wait to leave.
func (s *Sender) gather(c *call) {
	if c.lane.gathered == nil {
		c.lane.gathered = make([]*call, 0, fewTogether)
	}
	c.lane.gathered = append(c.lane.gathered, c)
	s.waits(c)
}

// reject adds a call to those that leave alone.
func (s *Sender) reject(c *call) {
	c.lane.rejected = append(c.lane.rejected, c)
	s.waits(c)
}

// waits has a call leave that was added to those that wait for it.
func (s *Sender) waits(c *call) {
	l := c.lane
	c.state = gathered
	if c.limit > 0 && (l.least == 0 || c.limit < l.least) {
		l.least = c.limit
	}
	if s.fills(c) {
		go s.sendFull(s.leave(l))
	}
	s.depart(l)
}

// fills reports whether what has gathered is enough to leave before others get to add to it. The operations of Go are
// added by one goroutine, so none of them has to wait for its turn.
func (s *Sender) fills(c *call) bool {
	return c.group == nil && s.traits.Full > 0 && len(c.lane.gathered) >= s.traits.Full && s.hasRoom(c.lane)
}

func (s *Sender) sendFull(a *attempt) {
	stack.Grow()
	s.send(a)
	s.look(a.lane)
}

// depart has what has gathered leave, if there is room for another attempt. Otherwise it looks again when an
// attempt has stalled; the end of one looks, too.
func (s *Sender) depart(l *lane) {
	switch {
	case l.isEmpty() || l.leaving:
	case s.hasRoom(l):
		l.leaving = true
		go s.work(l)
	default:
		s.lookWhenStalled(l)
	}
}

// work sends what has gathered, until nothing has or there is no room. l.leaving was set for it.
func (s *Sender) work(l *lane) {
	stack.Grow()
	for goesOn := true; goesOn; {
		runtime.Gosched() // others may have something to add
		if a := s.take(l); a != nil {
			s.send(a)
		}
		goesOn = s.goesOn(l)
	}
}

// take begins an attempt at what leaves next. It is nil if all that gathered has been given up.
func (s *Sender) take(l *lane) *attempt {
	s.mu.Lock()
	defer s.mu.Unlock()
	l.leaving = false
	if l.isEmpty() {
		return nil
	}
	a := s.leave(l)
	s.depart(l) // what is left
	return a
}

// leave begins an attempt at what leaves next.
func (s *Sender) leave(l *lane) *attempt {
	a := s.begin(l, l.next())
	if l.isEmpty() {
		l.least = 0
	}
	return a
}

// next takes the calls of the next batch out of the lane.
func (l *lane) next() (batch []*call) {
	if len(l.rejected) > 0 {
		batch, l.rejected = cut(l.rejected, 1)
		return batch
	}
	batch, l.gathered = cut(l.gathered, mostTogether)
	return batch
}

// cut splits the first calls off, so many at most. What is left may be appended to without a change of the others.
func cut(calls []*call, most int) (first, rest []*call) {
	n := min(most, len(calls))
	if n == len(calls) {
		return calls, nil
	}
	return calls[:n:n], calls[n:]
}

// goesOn reports whether there is more to send for the goroutine that has made an attempt.
func (s *Sender) goesOn(l *lane) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !l.isEmpty() && !l.leaving && s.hasRoom(l) {
		l.leaving = true
		return true
	}
	s.depart(l)
	return false
}

// hurry sends a call again of which a part was done, together with others of which that is so.
func (s *Sender) hurry(c *call) {
	l := c.lane
	c.state = gathered
	l.again = append(l.again, c)
	if l.hurrying {
		return
	}
	l.hurrying = true
	go func() {
		runtime.Gosched()
		if a := s.takeAgain(l); a != nil {
			s.send(a)
			s.look(l)
		}
	}()
}

// takeAgain begins an attempt at what goes again. It is nil if all of that has been given up.
func (s *Sender) takeAgain(l *lane) *attempt {
	s.mu.Lock()
	defer s.mu.Unlock()
	l.hurrying = false
	batch := l.again
	l.again = nil
	if len(batch) == 0 {
		return nil
	}
	return s.begin(l, batch)
}

// look has what waits leave, if there is room for it now.
func (s *Sender) look(l *lane) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.depart(l)
}

// drop takes out a call that was given up before it left.
func (l *lane) drop(c *call) {
	for _, calls := range []*[]*call{&l.gathered, &l.rejected, &l.again} {
		if i := slices.Index(*calls, c); i >= 0 {
			*calls = slices.Delete(*calls, i, i+1)
		}
	}
}

// begin makes an attempt of calls that leave their lane.
func (s *Sender) begin(l *lane, batch []*call) *attempt {
	a := &attempt{lane: l, calls: batch, began: s.now(), wanted: len(batch), unanswered: len(batch)}
	a.takeRoom(len(batch))
	var limit time.Duration
	unlimited := false
	for i, c := range batch {
		c.state, c.attempt = underWay, a
		(*a.ops)[i] = c.op
		limit = max(limit, c.until-a.began)
		unlimited = unlimited || c.limit == 0
	}
	ctx := context.WithoutCancel(batch[0].ctx)
	if unlimited {
		a.until = math.MaxInt64
		a.ctx, a.cancel = context.WithCancel(ctx)
	} else {
		a.until = a.began + limit
		a.ctx, a.cancel = context.WithTimeout(ctx, limit)
	}
	l.inFlight += len(batch)
	s.started(l, a)
	return a
}
