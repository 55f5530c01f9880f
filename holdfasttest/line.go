package holdfasttest

import (
	"context"
	"iter"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/batch"
)

// A line is a driver behind a network that can fail.
type line struct {
	driver.Driver // over the line
	store         driver.Driver

	mu     sync.Mutex
	faults faults
}

type faults struct {
	cut, mute bool
	delay     time.Duration
}

func (f faults) broken() bool { return f.cut || f.mute }

func newLine(store driver.Driver) *line {
	l := &line{store: store}
	l.Driver = batch.Intercept(store, l.pass)
	return l
}

func (l *line) set(f faults) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.faults = f
}

func (l *line) state() faults {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.faults
}

// pass sends one operation over the line.
func (l *line) pass(ctx context.Context, op driver.Op, next func(driver.Op) driver.Result) (r driver.Result) {
	f := l.state()
	if f.mute || !f.cut {
		r = next(op)
	}
	if err := l.answer(ctx, f); err != nil {
		return driver.Result{Err: err}
	}
	return r
}

// answer waits for an answer, which does not come while the line is broken.
func (l *line) answer(ctx context.Context, f faults) error {
	switch {
	case f.broken():
		<-ctx.Done()
		return ctx.Err()
	case f.delay > 0:
		return driver.Sleep(ctx, f.delay)
	default:
		return nil
	}
}

// Subscribe implements [driver.Driver]. What would be told while the line is broken is lost.
func (l *line) Subscribe(tell func(driver.Event)) (stop func()) {
	return l.store.Subscribe(func(e driver.Event) {
		if !l.state().broken() {
			tell(e)
		}
	})
}

// List implements [driver.Lister]. It asks once, before it yields.
func (l *line) List(ctx context.Context, prefix string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		if err := l.answer(ctx, l.state()); err != nil {
			yield("", err)
			return
		}
		driver.List(ctx, l.store, prefix)(yield)
	}
}
