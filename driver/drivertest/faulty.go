package drivertest

import (
	"context"
	"errors"
	"iter"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/batch"
)

// errLost is the error of operations that [faulty] lets fail. It says nothing about what became of them.
var errLost = errors.New("drivertest: the connection lost this")

// faultRates are how often things go wrong on a [faulty] connection, from 0 (never) to 1, and their sum is at most 1.
type faultRates struct {
	LoseRequest float64 // the operation fails, and nothing was applied
	LoseReply   float64 // the operation fails, and it was applied
	Twice       float64 // the operation is applied twice in a row
	Late        float64 // the operation is applied once more later, up to Delay after the caller has its answer
	Slow        float64 // the operation is applied up to Delay later

	LosePush float64 // how often an event about a claim is told nobody; it is not in the sum

	// Delay bounds how late an operation may be.
	Delay time.Duration
}

// badDay is what the suite runs over.
var badDay = faultRates{
	LoseRequest: 0.1, LoseReply: 0.1, Twice: 0.1, Late: 0.1, Slow: 0.1,
	LosePush: 0.2, Delay: 20 * time.Millisecond,
}

// overFaults lets a test work over a bad connection, which is quiet before the client is closed.
func overFaults(t testing.TB, d *Facade, n int) *Facade {
	f := newFaulty(d.driver, badDay, random(t, n))
	t.Cleanup(f.Settle)
	return NewFacade(f)
}

// A faulty is a driver behind a bad connection. It is safe for concurrent use. A sequence of operations that are made
// one after the other meets the same faults for the same seed.
type faulty struct {
	driver.Driver // the bad connection
	behind        driver.Driver
	faults        faultRates
	late          sync.WaitGroup

	mu     sync.Mutex
	random *rand.Rand // of operations
	pushes *rand.Rand // of events, which come at any time
}

// newFaulty puts a bad connection in front of d.
func newFaulty(d driver.Driver, faults faultRates, random *rand.Rand) *faulty {
	f := &faulty{behind: d, faults: faults, random: random, pushes: rand.New(rand.NewPCG(random.Uint64(), 1))}
	f.Driver = batch.Intercept(d, f.pass)
	return f
}

// Settle blocks until the late duplicates that are under way have arrived. To be called before the driver is closed.
func (f *faulty) Settle() { f.late.Wait() }

// Unwrap implements [driver.Wrapper].
func (f *faulty) Unwrap() driver.Driver { return f.behind }

// A fault is what happens to one operation.
type fault int

const (
	none fault = iota
	loseRequest
	loseReply
	twice
	late
	slow
)

// draw decides about the next operation.
func (f *faulty) draw() (fault, time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delay := time.Duration(f.random.Float64() * float64(f.faults.Delay))
	left := f.random.Float64()
	rates := []float64{f.faults.LoseRequest, f.faults.LoseReply, f.faults.Twice, f.faults.Late, f.faults.Slow}
	for i, rate := range rates {
		if left -= rate; left < 0 {
			return loseRequest + fault(i), delay
		}
	}
	return none, delay
}

// pass makes one operation over the connection. A watch has no faults.
func (f *faulty) pass(
	ctx context.Context, op driver.Op, next func(driver.Op) driver.Result,
) driver.Result {
	if op.Kind == driver.OpWatch {
		return next(op)
	}
	what, delay := f.draw()
	switch what {
	case loseRequest:
		return driver.Result{Err: errLost}
	case loseReply:
		next(op) // the caller is not to know
		return driver.Result{Err: errLost}
	case slow:
		if err := driver.Sleep(ctx, delay); err != nil {
			return driver.Result{Err: err}
		}
	}
	r := next(op)
	switch what {
	case twice:
		f.again(ctx, op)
	case late:
		f.later(ctx, delay, op)
	}
	return r
}

// again applies an operation whose caller has its answer.
func (f *faulty) again(ctx context.Context, op driver.Op) {
	f.behind.Do(ctx, []driver.Op{op}, func(int, driver.Result) {})
}

// lateness bounds what comes late, so that a server that hangs keeps no test from its end.
const lateness = time.Minute

// later applies an operation after a delay, even when its context has ended by then. Settle waits for it.
func (f *faulty) later(ctx context.Context, delay time.Duration, op driver.Op) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lateness)
	f.late.Go(func() {
		defer cancel()
		if driver.Sleep(ctx, delay) == nil {
			f.again(ctx, op)
		}
	})
}

// Subscribe implements [driver.Driver]. Some events about claims are lost.
func (f *faulty) Subscribe(tell func(driver.Event)) (stop func()) {
	return f.behind.Subscribe(func(e driver.Event) {
		if e.ID == "" || !f.losesPush() {
			tell(e)
		}
	})
}

func (f *faulty) losesPush() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.pushes.Float64() < f.faults.LosePush
}

// List implements [driver.Lister]. A fault ends it before the first name.
func (f *faulty) List(ctx context.Context, prefix string) iter.Seq2[string, error] {
	if what, _ := f.draw(); what == loseRequest || what == loseReply {
		return func(yield func(string, error) bool) { yield("", errLost) }
	}
	return driver.List(ctx, f.behind, prefix)
}
