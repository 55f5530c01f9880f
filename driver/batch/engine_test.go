package batch_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/batch"
)

// An engine is a driver of which a test decides when it answers, and what.
type engine struct {
	traits driver.Traits

	mu   sync.Mutex
	sent []*sent
}

// A sent attempt is a call of Do that lasts until it is over.
type sent struct {
	ctx      context.Context
	ops      []driver.Op
	done     func(int, driver.Result)
	answered []bool
	leave    chan func() // what Do does last
}

func newEngine(alone, maxInFlight int) *engine {
	return &engine{traits: driver.Traits{Backend: "test", Alone: alone, MaxInFlight: maxInFlight}}
}

func (e *engine) Traits() driver.Traits               { return e.traits }
func (e *engine) Subscribe(func(driver.Event)) func() { return func() {} }
func (e *engine) Close() error                        { return nil }

// Do ends with its context, as one that knows nothing about what it has sent.
func (e *engine) Do(ctx context.Context, ops []driver.Op, done func(int, driver.Result)) {
	a := &sent{
		ctx: ctx, ops: slices.Clone(ops), done: done, answered: make([]bool, len(ops)), leave: make(chan func(), 1),
	}
	e.mu.Lock()
	e.sent = append(e.sent, a)
	e.mu.Unlock()
	select {
	case last := <-a.leave:
		last()
	case <-ctx.Done():
		a.answerAll(driver.Result{Err: ctx.Err()})
	}
}

// attempt returns an attempt, the first of which is 0, once all goroutines have done what they can.
func (e *engine) attempt(t *testing.T, n int) *sent {
	t.Helper()
	synctest.Wait()
	e.mu.Lock()
	defer e.mu.Unlock()
	if n >= len(e.sent) {
		t.Fatalf("there are %d attempts, want another", len(e.sent))
	}
	return e.sent[n]
}

// attempts fails unless there were so many.
func (e *engine) attempts(t *testing.T, want int) {
	t.Helper()
	synctest.Wait()
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.sent) != want {
		t.Fatalf("there were %d attempts, want %d", len(e.sent), want)
	}
}

func (a *sent) answer(i int, r driver.Result) {
	a.answered[i] = true
	a.done(i, r)
}

func (a *sent) answerAll(r driver.Result) {
	for i, answered := range a.answered {
		if !answered {
			a.answer(i, r)
		}
	}
}

// over answers what has no answer, and ends the attempt.
func (a *sent) over() { a.ends(func() { a.answerAll(driver.Result{}) }) }

// ends has Do do this last, and returns when all goroutines have done what they can.
func (a *sent) ends(last func()) {
	a.leave <- last
	synctest.Wait()
}

// ids returns the claims of an attempt.
func (a *sent) ids() (ids []string) {
	for _, op := range a.ops {
		ids = append(ids, op.Claim.ID)
	}
	return ids
}

// has fails unless an attempt is at these claims, in this order.
func (a *sent) has(t *testing.T, want ...string) {
	t.Helper()
	if got := a.ids(); !slices.Equal(got, want) {
		t.Fatalf("the attempt has %q, want %q", got, want)
	}
}

const limit = time.Second

// change is an operation of the lane that most tests use.
func change(id string) driver.Op {
	return driver.Op{Kind: driver.OpRelease, Claim: driver.Claim{Name: "lock of " + id, ID: id}}
}

func renewal(id string) driver.Op {
	op := change(id)
	op.Kind, op.Claim.Token = driver.OpRequest, 1
	return op
}

// A caller is a goroutine in Do.
type caller struct {
	t      *testing.T
	cancel context.CancelFunc
	answer chan batch.Answer
	panic  any
}

// call has an operation sent, and returns when all goroutines have done what they can.
func call(t *testing.T, s *batch.Sender, op driver.Op) *caller {
	t.Helper()
	return callWithin(t, s, op, limit)
}

func callWithin(t *testing.T, s *batch.Sender, op driver.Op, limit time.Duration) *caller {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	c := &caller{t: t, cancel: cancel, answer: make(chan batch.Answer, 1)}
	go func() {
		defer cancel()
		defer func() {
			if c.panic = recover(); c.panic != nil {
				c.answer <- batch.Answer{}
			}
		}()
		c.answer <- s.Do(ctx, op, limit)
	}()
	synctest.Wait()
	return c
}

// err returns the error of the answer, which must be there.
func (c *caller) err() error {
	c.t.Helper()
	synctest.Wait()
	select {
	case a := <-c.answer:
		return a.Err
	default:
		c.t.Fatal("there is no answer yet")
		return nil
	}
}

// ends fails unless the answer is there and its error is this one, or matches it.
func (c *caller) ends(want error) {
	c.t.Helper()
	if got := c.err(); !errors.Is(got, want) {
		c.t.Fatalf("the error is %v, want %v", got, want)
	}
}

// waits fails if there is an answer.
func (c *caller) waits() {
	c.t.Helper()
	synctest.Wait()
	if len(c.answer) > 0 {
		c.t.Fatalf("it has an answer already: %+v", <-c.answer)
	}
}

// unknown fails unless the outcome is unknown, for this reason.
func (c *caller) unknown(why error) {
	c.t.Helper()
	if got := c.err(); !errors.Is(got, why) || errors.Is(got, driver.ErrUnsent) || driver.IsAnswer(got) {
		c.t.Fatalf("the error is %v, want an unknown outcome because of %v", got, why)
	}
}

// rule runs a test in virtual time.
func rule(t *testing.T, name string, test func(t *testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { synctest.Test(t, test) })
}
