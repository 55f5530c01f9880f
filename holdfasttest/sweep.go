package holdfasttest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/fence"
)

// A Section is work under a lock. It writes through r, or through a fake of a resource that calls r.
type Section func(ctx context.Context, r *Run) error

// Sweep calls a section under a lock: once undisturbed, and then once for each of its steps, after which the lock is
// lost and another holder has it. It fails the test if the section writes after that without its token, as a section
// does that looks at neither its context nor its lease between two writes. A write with the token is refused, as by a
// resource that checks fencing tokens, and the section may go on as it likes.
//
// A section should do the same each time it is called. Sweep takes no time of its own and needs no bubble.
func Sweep(t testing.TB, section Section) {
	t.Helper()
	r := sweep(t, section, never)
	for at := range r.steps + 1 {
		sweep(t, section, at)
	}
}

// never is a step that no section comes to.
const never = -1

// mostSteps bounds a section, which Sweep calls as many times as it has steps.
const mostSteps = 1000

// sweep calls the section once, and has the lock lost after this step; 0 is before the first.
func sweep(t testing.TB, section Section, at int) *Run {
	t.Helper()
	store := NewStore()
	r := &Run{t: t, store: store, at: at, loss: make(loss)}
	p := store.Process(t, holdfast.WithObserver(r.loss))
	err := p.Mutex(lockName).Do(t.Context(), func(ctx context.Context, l *holdfast.Lease) error {
		r.Lease = l
		r.loseAt(0)
		return section(ctx, r)
	})
	if at == never && err != nil {
		t.Fatalf("holdfasttest: the section fails though it keeps its lock: %v", err)
	}
	if r.lost && !errors.Is(err, holdfast.ErrLost) {
		t.Errorf("holdfasttest: %s: the section ended with %v, which does not say so", r.when(), err)
	}
	return r
}

const lockName = "section"

// A Run is one call of a section. It is for one goroutine at a time.
type Run struct {
	Lease *holdfast.Lease // of the lock

	t     testing.TB
	store *Store
	at    int // the step after which the lock is lost
	steps int // that were made
	lost  bool
	next  uint64 // the token of the next holder, once there is one
	loss  loss
}

// A loss is an observer, and closed when a lease was lost and all contexts have ended that end with it: those that a
// section has made of its own end a moment after the lease's.
type loss chan struct{}

// Observe implements [holdfast.Observer].
func (l loss) Observe(_ context.Context, e holdfast.Event) {
	if e.Op == holdfast.OpLose {
		close(l)
	}
}

// Step marks a point of the section, such as a call to another service, after which the lock may be lost.
func (r *Run) Step() { r.step() }

// Write is a write to the resource that the lock protects. token is what the resource gets with it, or zero. The lock
// may be lost after it. A token that is too old is refused with [fence.ErrStale].
func (r *Run) Write(what string, token uint64) error {
	r.t.Helper()
	defer r.step()
	switch {
	case token == 0 && r.lost:
		r.t.Errorf("holdfasttest: %s: %q was written without a token, though another has the lock; "+
			"look at the context or the lease before each write, or send the token with it", r.when(), what)
	case token != 0 && token < r.next:
		return fmt.Errorf("write %q with token %d: %w", what, token, fence.ErrStale)
	case token != 0 && token != r.Lease.Token():
		r.t.Errorf("holdfasttest: %q was written with token %d, which is nobody's; the lease has %d", what, token,
			r.Lease.Token())
	}
	return nil
}

func (r *Run) step() {
	if r.steps++; r.steps > mostSteps {
		r.t.Fatalf("holdfasttest: a section has %d steps at most", mostSteps)
	}
	r.loseAt(r.steps)
}

// loseAt gives the lock to another holder if this is the step, and waits until the section can know.
func (r *Run) loseAt(step int) {
	if step != r.at {
		return
	}
	r.lost, r.next = true, r.store.Steal(r.t, lockName).Token()
	<-r.Lease.Done()
	if errors.Is(r.Lease.Err(), holdfast.ErrLost) {
		<-r.loss
	}
}

// when says at which point the lock was lost.
func (r *Run) when() string {
	if r.at == 0 {
		return "the lock was lost before the first step"
	}
	return fmt.Sprintf("the lock was lost after step %d", r.at)
}
