package batch

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// The calls on each claim go in the order in which they came, whichever leave in between, and however many claims there
// are.
func TestClaims(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	cs, want, all := newClaims(), make(map[string][]*call), 0
	for step := range 20_000 {
		id := strconv.Itoa(r.IntN(1 + step%4000))
		calls := want[id]
		if len(calls) == 0 || r.IntN(3) == 0 {
			c := &call{op: driver.Op{Kind: driver.OpRelease, Claim: driver.Claim{ID: id}}}
			if waits := cs.add(c); waits != (len(calls) > 0) {
				t.Fatalf("seed %d: a call behind %d others waits: %v", seed, len(calls), waits)
			}
			want[id], all = append(calls, c), all+1
			continue
		}
		at := r.IntN(len(calls))
		next := cs.remove(calls[at])
		want[id], all = slices.Delete(calls, at, at+1), all-1
		var turn *call
		if at == 0 && len(want[id]) > 0 {
			turn = want[id][0]
		}
		if next != turn {
			t.Fatalf("seed %d: after call %d of %d it is the turn of %p", seed, at, len(calls), next)
		}
	}
	for _, calls := range want {
		for _, c := range calls {
			cs.remove(c)
		}
	}
	if n := cs.taken(); n != 0 {
		t.Errorf("%d claims are left", n)
	}
	for i := range cs.stripes {
		st := &cs.stripes[i]
		if slices.ContainsFunc(st.buckets, func(c *call) bool { return c != nil }) {
			t.Error("a call is left")
		}
		if len(st.buckets) <= fewClaims {
			t.Errorf("a stripe has %d buckets after %d calls at once", len(st.buckets), all)
		}
	}
}

// taken is how many claims have operations.
func (cs *claims) taken() (n int) {
	for i := range cs.stripes {
		n += cs.stripes[i].n
	}
	return n
}

// An operation that is given up just when it is its turn is not sent.
func TestTurnOfOneThatWasGivenUp(t *testing.T) {
	s := New(unused{t}, nil)
	op := driver.Op{Kind: driver.OpRelease, Claim: driver.Claim{ID: "a"}}
	one := s.beginAlone(t.Context(), &op, time.Minute, s.now())
	l := s.lane(s.laneKey(&op, time.Minute))
	c := s.newCall(t.Context(), &op, l, time.Minute, s.now())
	s.admit(c)
	next := s.leaveClaim(one)
	if next != c {
		t.Fatalf("it is the turn of %p, want %p", next, c)
	}
	s.giveUp(context.Canceled, c)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.takesTurn(c)
	if !errors.Is(c.outcome().Err, driver.ErrUnsent) || !l.isEmpty() || s.claims.taken() != 0 {
		t.Errorf("the error is %v, %d calls have gathered, and %d claims are left",
			c.answer.Err, len(l.gathered), s.claims.taken())
	}
}

// An exclusive engine counts operations that begin while another one on their claim is under way.
type exclusive struct {
	echo
	claims [4]atomic.Int32
	wrong  atomic.Int32
}

func (*exclusive) Traits() driver.Traits { return driver.Traits{} }

func (e *exclusive) Do(ctx context.Context, ops []driver.Op, done func(int, driver.Result)) {
	for i := range ops {
		at := &e.claims[ops[i].Token]
		if at.Add(1) > 1 {
			e.wrong.Add(1)
		}
		runtime.Gosched()
		at.Add(-1)
		done(i, driver.Result{})
	}
}

// Operations that go alone and are counted in no lane are kept apart, too, if they are on one claim, also from those of
// Go, and whoever gives up.
func TestClaimsWithoutLanes(t *testing.T) {
	synctest.Test(t, testClaimsWithoutLanes)
}

func testClaimsWithoutLanes(t *testing.T) {
	e := &exclusive{}
	s := New(e, nil)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 1000 {
				ctx, cancel := context.WithCancel(t.Context())
				if rand.IntN(3) == 0 {
					all.Go(cancel)
				}
				op := numbered(rand.IntN(len(e.claims)))
				var a Answer
				if rand.IntN(3) > 0 {
					a = s.Do(ctx, op, time.Minute)
				} else {
					answer := make(chan Answer, 1)
					s.Go(ctx, []driver.Op{op}, time.Minute, func(_ int, a Answer) { answer <- a })
					a = <-answer
				}
				if a.Err != nil && !errors.Is(a.Err, context.Canceled) {
					t.Error(a.Err)
				}
				cancel()
			}
		})
	}
	all.Wait()
	synctest.Wait() // for what was given up while it was under way
	if n := e.wrong.Load(); n > 0 {
		t.Errorf("%d operations began while another one on their claim was under way", n)
	}
	if n := s.claims.taken(); n > 0 {
		t.Errorf("%d claims are left", n)
	}
}
