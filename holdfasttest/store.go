package holdfasttest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/memlock"
)

// A Store is a backend in memory. It is safe for concurrent use.
type Store struct {
	driver  *memlock.Driver
	thieves atomic.Int64 // that there were
}

// NewStore returns an empty store.
func NewStore() *Store { return &Store{driver: memlock.New()} }

// Process returns a client of the store that stands for a process of its own. It is closed when the test ends, without
// waiting for locks that a cut or mute network keeps it from releasing.
func (s *Store) Process(t testing.TB, opts ...holdfast.Option) *Process {
	t.Helper()
	l := newLine(s.driver.Client())
	p := &Process{Client: holdfast.New(l, opts...), line: l}
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		if p.line.state().broken() {
			cancel()
		}
		defer cancel()
		p.Close(ctx)
	})
	return p
}

// Lose takes the lock with this name away from its holders, as an operator does, or a backend that forgets. They learn
// of it as soon as their backend can tell them: see [holdfast.Lease.Done].
func (s *Store) Lose(t testing.TB, name string) {
	t.Helper()
	s.end(t, name, func(e holdfast.Entry) bool { return e.Granted })
}

// Steal takes the lock with this name away from its holders and waiters, and returns the lease of another process that
// holds it now, under a greater token. That lease ends with the test. A client that comes back at once, as a candidate
// of an election does, is behind that process.
func (s *Store) Steal(t testing.TB, name string) *holdfast.Lease {
	t.Helper()
	label := fmt.Sprintf("thief %d", s.thieves.Add(1))
	thief := s.Process(t, holdfast.WithOwner(label))
	isThief := func(e holdfast.Entry) bool { return strings.HasSuffix(e.Owner, " "+label) }

	var lease *holdfast.Lease
	got := make(chan error, 1)
	go func() {
		var err error
		lease, err = thief.Mutex(name).Lock(context.WithoutCancel(t.Context()))
		got <- err
	}()
	s.await(t, thief, name, isThief)
	s.end(t, name, func(e holdfast.Entry) bool { return !isThief(e) })
	if err := <-got; err != nil {
		t.Fatalf("holdfasttest: steal %q: %v", name, err)
	}
	return lease
}

// await returns when a claim of this kind is in the queue of a lock.
func (s *Store) await(t testing.TB, p *Process, name string, which func(holdfast.Entry) bool) {
	t.Helper()
	for queue, err := range p.Watch(context.WithoutCancel(t.Context()), name) {
		if err != nil {
			t.Fatalf("holdfasttest: %v", err)
		}
		if slices.ContainsFunc(queue, which) {
			return
		}
	}
}

// end breaks the claims of a lock that which says.
func (s *Store) end(t testing.TB, name string, which func(holdfast.Entry) bool) {
	t.Helper()
	for _, e := range s.do(t, driver.Op{Kind: driver.OpQueue, Claim: driver.Claim{Name: name}}).Queue {
		if which(e) {
			s.do(t, driver.Op{Kind: driver.OpBreak, Claim: e.Claim})
		}
	}
}

// do does an operation, which nothing can prevent but the end of its claim.
func (s *Store) do(t testing.TB, op driver.Op) (r driver.Result) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	s.driver.Do(ctx, []driver.Op{op}, func(_ int, got driver.Result) { r = got })
	if r.Err != nil && !errors.Is(r.Err, driver.ErrGone) {
		t.Fatalf("holdfasttest: %v", r.Err)
	}
	return r
}
