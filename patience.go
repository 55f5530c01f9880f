package holdfast

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// Endless is a patience without end: the backend is asked until the context ends. See [WithPatience].
const Endless time.Duration = math.MaxInt64

// WithPatience sets for how long an acquisition keeps asking a backend that does not answer, always about the same
// claim, before it fails with ErrUnavailable. The time counts from the first request without an answer, so waiting for
// a lock that others have may take as long as the context allows. The default is the TTL and two attempts more, so an
// outage of a whole TTL passes unnoticed. 0 gives up after one attempt, and [Endless] only when the context ends. An
// attempt is given up after a sixth of the TTL, but at most three seconds. Acquisitions that do not wait, such as
// TryLock, keep asking for the time of two attempts at most, after one attempt at most for what the same client has to
// take back before, such as the claim of a Lock that timed out.
func WithPatience(d time.Duration) Option { return func(s *settings) { s.patience = d } }

// WithFirstAnswer is WithPatience for the first request of an acquisition. With a short one, a program that is started
// without its backend fails soon, and still outlasts an outage once it waits. The default is the patience.
func WithFirstAnswer(d time.Duration) Option { return func(s *settings) { s.firstAnswer = d } }

// unset is a patience that follows from other settings.
const unset time.Duration = math.MinInt64

// shortWait is how many attempts fit into the patience of who does not wait for the lock either.
const shortWait = 2

// patienceFor is how long an acquisition asks in vain, once it has had an answer.
func (s *settings) patienceFor(wait bool) time.Duration {
	attempts := shortWait * attemptLimit(s.ttl)
	p := s.patience
	if p == unset {
		p = s.ttl + attempts
	}
	if !wait {
		p = min(p, attempts)
	}
	return p
}

// patienceAtFirst is how long it does so before it has had one.
func (s *settings) patienceAtFirst(wait bool) time.Duration {
	if s.firstAnswer == unset {
		return s.patienceFor(wait)
	}
	return min(s.firstAnswer, s.patienceFor(wait))
}

// checkPatience reports what is wrong with the two.
func (s *settings) checkPatience() error {
	for _, p := range []struct {
		name string
		d    time.Duration
	}{{"WithPatience", s.patience}, {"WithFirstAnswer", s.firstAnswer}} {
		if p.d < 0 && p.d != unset {
			return fmt.Errorf("%s(%v): it must not be negative; 0 means one attempt", p.name, p.d)
		}
	}
	return nil
}

// A patience is what is left of the time for which something is asked again and again.
type patience struct {
	began   instant
	giveUp  instant
	attempt time.Duration // how long one may take
}

// attemptsWithin is how many attempts a patience has room for, if they may take as long as it allows.
const attemptsWithin = 2

// patient begins a patience for requests with this TTL.
func patient(d, ttl time.Duration) patience {
	p := patience{began: now(), giveUp: math.MaxInt64, attempt: attemptLimit(ttl)}
	if d > 0 {
		p.attempt = max(min(p.attempt, d/attemptsWithin), leastAttempt)
	}
	if d < time.Duration(p.giveUp-p.began) {
		p.giveUp = p.began.add(d)
	}
	return p
}

// limit is how long an attempt that begins now may take. The last of several ends with the patience.
func (p *patience) limit(at instant) time.Duration {
	if at == p.began {
		return p.attempt
	}
	left := p.giveUp.sub(at)
	return min(p.attempt, max(left, leastAttempt))
}

// isOver reports whether to give up.
func (p *patience) isOver() bool { return now() >= p.giveUp }

// silence is the error of a backend that has not done what it was asked for since an instant. err is the error of the
// last attempt. A server that answered with an error was not silent, and the text says so.
func silence(ctx context.Context, attempts int, since instant, err error) error {
	if attempts <= 1 && errors.Is(ctx.Err(), context.Canceled) { // nobody has waited for it
		return err
	}
	return &unanswered{since.time(), now().sub(since), err}
}

// unanswered is what silence returns.
type unanswered struct {
	since time.Time
	took  time.Duration
	err   error
}

func (e *unanswered) Error() string {
	what := "no answer"
	if isServerError(e.err) {
		what = "only errors"
	}
	s := fmt.Sprintf("%v: %s since %s (%v)",
		ErrUnavailable, what, e.since.Format(time.TimeOnly), e.took.Round(time.Millisecond))
	if !isBare(e.err) {
		s += ": " + e.err.Error()
	}
	return s
}

func (e *unanswered) Unwrap() []error { return []error{ErrUnavailable, e.err} }

// isBare reports whether an error says no more than that the time was over.
func isBare(err error) bool { return err == context.DeadlineExceeded || err == context.Canceled }

// A reason is the error of an attempt, with what is known from those before it.
type reason struct {
	before, last error
}

// after is the reason for a failure, where the attempts before the last one had an error, or none.
func after(before, last error) error {
	if before == nil || isServerError(last) {
		return last
	}
	return &reason{before, last}
}

func (r *reason) Error() string {
	if isBare(r.last) || r.last.Error() == r.before.Error() {
		return r.before.Error()
	}
	return r.before.Error() + ", then " + r.last.Error()
}

// Unwrap has errors.Is look at the last attempt alone: that an earlier one had no effect says nothing of it.
func (r *reason) Unwrap() []error { return []error{spoken{r.before}, r.last} }

// spoken is an error that counts for its words, which errors.As finds, and for nothing else.
type spoken struct{ error }

func (s spoken) As(target any) bool { return errors.As(s.error, target) }

// withServersWords is the error of an attempt, with what the server said in those before it if it said nothing in this
// one: the last attempts of a lease that ends have little time.
func withServersWords(before, last error) error {
	if last == nil || isGone(last) || !isServerError(before) {
		return last
	}
	if r, ok := before.(*reason); ok {
		before = r.before
	}
	return after(before, last)
}

// serverError returns err if the server sent it, and otherwise the one before.
func serverError(before, err error) error {
	if isServerError(err) {
		return err
	}
	return before
}

// An inquiry is a question that is not answered yet, for those to look at who wait for what it is about.
type inquiry struct {
	mu       sync.Mutex
	attempts int // zero: there is none
	since    instant
	err      error // of the attempt before; nil if there was none
}

func (q *inquiry) begun(attempts int, since instant, err error) {
	if q == nil {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.attempts, q.since, q.err = attempts, since, err
}

func (q *inquiry) over() { q.begun(0, 0, nil) }

// silence is that of a backend that does not answer when ctx ends; nil when nothing is asked.
func (q *inquiry) silence(ctx context.Context) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.attempts == 0 {
		return nil
	}
	return silence(ctx, q.attempts, q.since, after(q.err, ctx.Err()))
}

// unserved is failure for what is asked once.
func (l *lock) unserved(ctx context.Context, op string, err error) error {
	if driver.IsAnswer(err) || errors.Is(err, ErrUnknown) || errors.Is(ctx.Err(), context.Canceled) {
		return l.failure(op, err)
	}
	return l.failure(op, ErrUnavailable, err)
}

// askReachable is what to ask when a backend was silent.
const askReachable = advice("is the backend running and reachable?")

// withAdvice appends what to ask about a backend, unless it has said itself what is wrong.
func withAdvice(err error) error {
	if isServerError(err) {
		return err
	}
	return joined{err, askReachable}
}

// isServerError reports whether the server itself sent this error.
func isServerError(err error) bool {
	var server *driver.ServerError
	return errors.As(err, &server)
}
