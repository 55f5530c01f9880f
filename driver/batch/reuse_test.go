package batch

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// An echo answers each operation with its own token.
type echo struct{}

func (echo) Traits() driver.Traits               { return driver.Traits{Alone: 1} }
func (echo) Subscribe(func(driver.Event)) func() { return func() {} }
func (echo) Close() error                        { return nil }

func (echo) Do(_ context.Context, ops []driver.Op, done func(int, driver.Result)) {
	runtime.Gosched() // meanwhile others gather
	for i := range ops {
		done(i, driver.Result{Status: driver.Status{Token: ops[i].Token}})
	}
}

func numbered(n int) driver.Op {
	return driver.Op{Kind: driver.OpPropose, Claim: driver.Claim{ID: strconv.Itoa(n)}, Token: uint64(n)}
}

// Each caller gets the answer to its own operation, though calls are used again.
func TestAnswersOfCallsThatAreUsedAgain(t *testing.T) {
	const callers, each = 50, 100
	s := New(echo{}, nil)
	var all sync.WaitGroup
	for c := range callers {
		all.Go(func() {
			for i := range each {
				n := c*each + i
				if a := s.Do(t.Context(), numbered(n), time.Minute); a.Err != nil || a.Status.Token != uint64(n) {
					t.Errorf("operation %d: %+v", n, a)
				}
			}
		})
	}
	all.Wait()
	op := numbered(1)
	l := s.lane(s.laneKey(&op, time.Minute))
	if n := l.returning.Load(); n != 0 || l.inFlight != 0 {
		t.Errorf("%d callers count as answered, and %d operations as under way", n, l.inFlight)
	}
}

// A caller that has been answered, and does not run yet, counts among those with which an operation may gather.
func TestAnsweredCallersCount(t *testing.T) {
	s := New(echo{}, nil)
	op := numbered(1)
	l := s.lane(s.laneKey(&op, time.Minute))
	c := s.newCall(t.Context(), &op, l, time.Minute, s.now())
	s.mu.Lock()
	defer s.mu.Unlock()
	s.end(c, Answer{})
	if s.goesAlone(l) {
		t.Error("the next operation goes alone")
	}
	s.await(c)
	if !s.goesAlone(l) {
		t.Error("the next operation gathers though no caller is left")
	}
}

// A call that is used again is given up when the limit of its own operation has passed: the timer that stands from the
// operation before may go off sooner, and would go off later.
func TestLimitsOfCallsThatAreUsedAgain(t *testing.T) {
	for _, limits := range [][2]time.Duration{{time.Second, 10 * time.Second}, {time.Minute, time.Second}} {
		t.Run(limits[0].String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := New(echo{}, nil)
				op := numbered(1)
				l := s.lane(s.laneKey(&op, limits[0]))
				s.await(endedCall(t, s, &op, l, limits[0]))
				time.Sleep(time.Millisecond)

				s.mu.Lock()
				c := s.newCall(t.Context(), &op, l, limits[1], s.now()) // nothing sends it
				s.mu.Unlock()
				began := time.Now()
				if a := s.await(c); !errors.Is(a.Err, context.DeadlineExceeded) || time.Since(began) != limits[1] {
					t.Errorf("given up after %v (%v), want %v", time.Since(began), a.Err, limits[1])
				}
			})
		})
	}
}

// endedCall returns a call that has its answer.
func endedCall(t *testing.T, s *Sender, op *driver.Op, l *lane, limit time.Duration) *call {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.newCall(t.Context(), op, l, limit, s.now())
	s.end(c, Answer{})
	return c
}

// A keeper looks at its first batch again when it is called next. It panics in the first call.
type keeper struct {
	echo
	first []driver.Op
	seen  []string // claims of the first batch, by then
}

func (k *keeper) Do(_ context.Context, ops []driver.Op, done func(int, driver.Result)) {
	if k.first == nil {
		k.first = ops
		panic("no answer")
	}
	for _, op := range k.first {
		k.seen = append(k.seen, op.Claim.ID)
	}
	for i := range ops {
		done(i, driver.Result{})
	}
}

// A driver that panics may have goroutines that still work on its batch, so nothing else is put there.
func TestBatchOfADriverThatPanics(t *testing.T) {
	k := &keeper{}
	s := New(k, &Options{Stray: func(*Panic) {}})
	ask := func(ops ...driver.Op) error {
		said := make(chan error, len(ops))
		s.Go(t.Context(), ops, time.Minute, func(_ int, a Answer) { said <- a.Err })
		var errs []error
		for range ops {
			errs = append(errs, <-said)
		}
		return errors.Join(errs...)
	}
	if _, panicked := errors.AsType[*Panic](ask(numbered(1), numbered(2))); !panicked {
		t.Fatal("the panic is not told")
	}
	if err := ask(numbered(3), numbered(4)); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(k.seen, []string{"1", "2"}) {
		t.Errorf("its batch has the claims %q by then", k.seen)
	}
}
