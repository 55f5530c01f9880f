package etcdlock

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/codes"

	"github.com/holdfast-go/holdfast/driver"
)

// How long members may be silent.
const (
	// silence is how long a member may take until another one is asked, too. A member that is cut off, is stopped
	// or waits for its disk may never answer; an election takes a second or two.
	silence = 500 * time.Millisecond

	// attemptTime is how long all but the first may take until they are asked anew: during an election, members
	// forget what they were asked.
	attemptTime = 3 * silence
)

// A question is put to one member after the other, or to several at the same time, and must mean the same however
// often it arrives. The context demands that the member knows a leader.
type question[T any] func(context.Context, *member) (T, error)

// ask puts a question until a member answers or ctx ends. again says that it was put more than once, and may have
// arrived before, or may still. Errors of the server are explained.
func ask[T any](ctx context.Context, d *Driver, q question[T]) (answer T, again bool, err error) {
	answer, again, err = askAny(ctx, d, q)
	if err = explain(err); again {
		err = repeatedly(err)
	}
	return answer, again, err
}

// askAny is ask without explanations.
func askAny[T any](ctx context.Context, d *Driver, q question[T]) (answer T, again bool, err error) {
	m, several := d.members.first()
	ctx = clientv3.WithRequireLeader(ctx)
	if !several {
		m.hurryUp()
		answer, err = q(ctx, m)
		if !memberAnswered(err) && d.lifetime.Err() != nil {
			err = driver.ErrClosed
		}
		return answer, false, err
	}
	attempt, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &search[T]{d: d, question: q, first: m, tries: make(chan try[T]), over: make(chan struct{})}
	s.ctx, s.stop = context.WithCancel(attempt)
	timer := time.AfterFunc(silence, func() {
		s.silent = append(s.silent, m)
		s.run()
		cancel() // the first attempt is not waited for any more
	})
	answer, err = q(attempt, m)
	inTime := timer.Stop()
	switch {
	case inTime && memberAnswered(err):
		return answer, false, err
	case inTime && ctx.Err() != nil:
		s.stop()
		return answer, false, err
	case inTime:
		s.failed(try[T]{member: m, err: err})
		s.run()
	case memberAnswered(err):
		s.stop() // what it has found means the same
		return answer, true, err
	}
	<-s.over
	return s.answer, true, s.err
}

// A search is a question that its first member has not answered.
type search[T any] struct {
	d        *Driver
	question question[T]
	first    *member
	ctx      context.Context // ends with the search
	stop     context.CancelFunc
	tries    chan try[T]
	silent   []*member // were asked a while ago and have not answered

	over   chan struct{} // closed when the rest is valid
	answer T
	err    error
}

// A try is one attempt of a search.
type try[T any] struct {
	member *member
	answer T
	err    error
}

// run asks the members in turn, from the one after the first on, and does not wait for one that is silent.
func (s *search[T]) run() {
	defer close(s.over)
	defer s.stop()
	order := s.d.members.after(s.first)
	for i := 0; !s.isHopeless(i, len(order)); i++ {
		if i > 0 && i%len(order) == 0 && pause(s.ctx) != nil {
			break
		}
		s.begin(order[i%len(order)])
		if s.await(order[i%len(order)]) {
			return
		}
	}
	s.err = s.failure()
}

// unknownRounds is how often all members are asked that answer with errors of which nobody knows what they mean.
const unknownRounds = 3

// isHopeless reports whether there is no use in asking any more.
func (s *search[T]) isHopeless(asked, members int) bool {
	return s.ctx.Err() != nil || s.d.lifetime.Err() != nil ||
		asked >= unknownRounds*members && isUnknown(s.err)
}

// failure is the error of a search that has ended without an answer.
func (s *search[T]) failure() error {
	switch {
	case s.d.lifetime.Err() != nil:
		return driver.ErrClosed
	case s.ctx.Err() == nil:
		return s.err
	case s.err == nil || errors.Is(s.err, s.ctx.Err()):
		return s.ctx.Err()
	default:
		return fmt.Errorf("%w; before that: %w", s.ctx.Err(), repeatedly(explain(s.err)))
	}
}

// begin asks a member.
func (s *search[T]) begin(m *member) {
	m.hurryUp()
	s.d.running.Go(func() {
		ctx, cancel := context.WithTimeout(s.ctx, attemptTime)
		defer cancel()
		answer, err := s.question(ctx, m)
		select {
		case s.tries <- try[T]{m, answer, err}:
		case <-s.ctx.Done():
		}
	})
}

// await waits until somebody answers, which ends the search, or it is time to ask another one than m.
func (s *search[T]) await(m *member) (over bool) {
	enough := time.NewTimer(silence)
	defer enough.Stop()
	for {
		select {
		case t := <-s.tries:
			if memberAnswered(t.err) {
				s.conclude(t)
				return true
			}
			if s.failed(t); t.member == m {
				return false
			}
		case <-enough.C:
			s.silent = append(s.silent, m)
			return false
		case <-s.ctx.Done():
			return false
		case <-s.d.lifetime.Done():
			return false
		}
	}
}

// failed notes that a member has said that it cannot answer, or has been silent for too long.
func (s *search[T]) failed(t try[T]) {
	if code(t.err) != codes.DeadlineExceeded {
		s.err = t.err
		s.d.members.avoid(t.member)
	}
}

// conclude notes an answer. Who has not given one is not asked first any more.
func (s *search[T]) conclude(t try[T]) {
	s.answer, s.err = t.answer, t.err
	for _, m := range s.silent {
		if m != t.member {
			s.d.members.avoid(m)
		}
	}
	s.d.members.prefer(t.member)
}

// questionsAtOnce bounds the questions that one call of each has under way.
const questionsAtOnce = 16

// each calls f with each number below n, for some at the same time: it asks the server. A panic of f, as where a client
// of others panics, goes up to the caller.
func each(n int, f func(i int)) {
	var all sync.WaitGroup
	panics := make(chan any, questionsAtOnce)
	for first := range min(questionsAtOnce, n) {
		all.Go(func() {
			defer func() {
				if caught := recover(); caught != nil {
					panics <- caught
				}
			}()
			for i := first; i < n; i += questionsAtOnce {
				f(i)
			}
		})
	}
	all.Wait()
	select {
	case caught := <-panics:
		panic(caught)
	default:
	}
}
