package leased

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"

	"github.com/holdfast-go/holdfast/driver"
)

// A task is one operation, or one chore, under way. It is written as a function that has the store make one step after
// the other. A task that is alone does so on the goroutine of its caller. Those of a batch are coroutines: each runs
// until it needs a step, and the steps of all that wait for one are applied together.
type task struct {
	d     *Engine
	ctx   context.Context
	yield func(struct{}) bool // nil: the task is alone

	// A coroutine waits for a step, or for a function that may take long.
	step    Step
	outcome Outcome
	long    func()
}

// ask has the store make a step.
func (t *task) ask(s Step) (o Outcome) {
	if t.yield == nil {
		t.d.store.Apply(t.ctx, []Step{s}, func(_ int, got Outcome) { o = got })
		return o
	}
	t.step = s
	if !t.yield(struct{}{}) {
		return Outcome{Err: errAbandoned}
	}
	return t.outcome
}

// await runs what may take long. It returns false if the batch was abandoned.
func (t *task) await(long func()) bool {
	if t.yield == nil {
		long()
		return true
	}
	t.long = long
	return t.yield(struct{}{})
}

// errAbandoned is for tasks of a batch in which the store has panicked.
var errAbandoned = errors.New("the batch was abandoned")

// Do implements [driver.Driver].
func (d *Engine) Do(ctx context.Context, batch []driver.Op, done func(int, driver.Result)) {
	if len(batch) == 1 {
		t := &task{d: d, ctx: ctx}
		done(0, t.do(batch[0]))
		return
	}
	d.together(ctx, len(batch), func(i int, t *task) { done(i, t.do(batch[i])) })
}

// A batch is tasks whose steps are applied together.
type batch struct {
	d      *Engine
	ctx    context.Context
	all    []coroutine
	others driver.Group // that have a round of steps under way, or something that takes long

	mu    sync.Mutex
	ready []*coroutine // those that wait for a step which is not sent yet
}

// A coroutine is a task that runs while resume does.
type coroutine struct {
	task
	next func() (struct{}, bool)
	stop func()
}

// together runs n tasks and returns when all have ended. The first round of steps has all tasks. A task that needs
// another step does not wait for the end of the round.
func (d *Engine) together(ctx context.Context, n int, run func(int, *task)) {
	b := &batch{d: d, ctx: ctx, all: make([]coroutine, n)}
	defer b.abandon()
	for i := range b.all {
		c := &b.all[i]
		c.task.d, c.ctx = d, ctx
		c.next, c.stop = iter.Pull(func(yield func(struct{}) bool) {
			c.yield = yield
			run(i, &c.task)
		})
		b.resume(c)
	}
	b.round()
	b.others.Wait()
}

// abandon ends the tasks that are left when the store has panicked.
func (b *batch) abandon() {
	for i := range b.all {
		if stop := b.all[i].stop; stop != nil {
			stop()
		}
	}
}

// resume runs a task until it waits for something, or ends. It reports whether the task is the first of the next round.
func (b *batch) resume(c *coroutine) (first bool) {
	c.long = nil
	if _, waits := c.next(); !waits {
		return false
	}
	if long := c.long; long != nil {
		b.others.Go(func() {
			long()
			if b.resume(c) {
				b.round()
			}
		})
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ready = append(b.ready, c)
	return len(b.ready) == 1
}

// round applies the steps that tasks wait for.
func (b *batch) round() {
	b.mu.Lock()
	ready := b.ready
	b.ready = nil
	b.mu.Unlock()
	if len(ready) == 0 {
		return
	}
	steps := make([]Step, len(ready))
	for i, c := range ready {
		steps[i] = c.step
	}
	b.d.store.Apply(b.ctx, steps, func(i int, o Outcome) {
		ready[i].outcome = o
		if b.resume(ready[i]) {
			b.others.Go(b.round)
		}
	})
}

// do makes one attempt at an operation.
func (t *task) do(op driver.Op) (r driver.Result) {
	if err := t.open(); err != nil {
		return driver.Result{Err: err}
	}
	c := op.Claim
	switch op.Kind {
	case driver.OpRequest:
		r.Status, r.Err = t.request(op)
	case driver.OpRelease:
		r.Err = t.release(c)
	case driver.OpBreak:
		r.Err = t.breakClaim(c)
	case driver.OpRevoke:
		r.Err = t.revoke(c)
	case driver.OpSetValue:
		r.Err = t.setValue(c, op.Value)
	case driver.OpValue:
		r.Value, r.Err = t.value(c.Name)
	case driver.OpQueue:
		r.Queue, r.Err = t.queue(c.Name, op.Most)
	case driver.OpWatch:
		t.d.lookOut(c.Name)
	default:
		r.Err = driver.Unsupported(t.d.Traits(), op.Kind.String())
	}
	if r.Err != nil {
		r.Status = driver.Status{}
	}
	return r
}

// open reports why nothing can be sent.
func (t *task) open() error {
	if t.d.lifetime.Err() != nil {
		return fmt.Errorf("%w: %w", driver.ErrUnsent, driver.ErrClosed)
	}
	if err := t.ctx.Err(); err != nil {
		return fmt.Errorf("%w: %w", driver.ErrUnsent, err)
	}
	return nil
}

// isUnknown reports whether nobody knows what became of a step with this error.
func isUnknown(err error) bool {
	return !driver.IsAnswer(err) && !errors.Is(err, driver.ErrUnsent) && !errors.Is(err, ErrSessionLost) &&
		!errors.Is(err, ErrSessionFull)
}

// undecided is the error of a request of which an earlier copy may have been applied, or a part was: it is not unsent,
// and nobody may think that it was refused.
func undecided(err error) error {
	if errors.Is(err, driver.ErrUnsent) || errors.Is(err, ErrSessionLost) || errors.Is(err, ErrSessionFull) {
		return fmt.Errorf("%v; ask again", err)
	}
	return err
}
