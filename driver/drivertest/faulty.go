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
)

// errLost is the error of calls that [faulty] let fail. It says nothing about what became of the request.
var errLost = errors.New("drivertest: the connection lost this")

// faultRates are how often things go wrong on a [faulty] connection, from 0 (never) to 1, and their sum is at most 1.
type faultRates struct {
	LoseRequest float64 // the call fails, and nothing was applied
	LoseReply   float64 // the call fails, and the request was applied
	Twice       float64 // the request is applied twice in a row
	Late        float64 // the request is applied once more later, up to Delay after the caller has its answer
	Slow        float64 // the request is applied up to Delay later

	// LosePush is how often Wait takes the news and tells nobody: it blocks until its context ends.
	LosePush float64

	// Delay bounds how late a request may be.
	Delay time.Duration
}

// badDay is what the suite runs over.
var badDay = faultRates{
	LoseRequest: 0.1, LoseReply: 0.1, Twice: 0.1, Late: 0.1, Slow: 0.1,
	LosePush: 0.2, Delay: 20 * time.Millisecond,
}

// overFaults lets a test work over a bad connection, which is quiet before the client is closed.
func overFaults(t testing.TB, d driver.Driver, n int) driver.Driver {
	f := newFaulty(d, badDay, random(t, n))
	t.Cleanup(f.Settle)
	return f
}

// A faulty is a driver behind a bad connection. It offers all abilities, each as far as the driver does, and is safe
// for concurrent use. A sequence of calls that are made one after the other meets the same faults for the same seed.
type faulty struct {
	driver.Driver
	faults faultRates
	late   sync.WaitGroup

	mu     sync.Mutex
	random *rand.Rand
}

// newFaulty puts a bad connection in front of d.
func newFaulty(d driver.Driver, faults faultRates, random *rand.Rand) *faulty {
	return &faulty{Driver: d, faults: faults, random: random}
}

// Settle blocks until the late duplicates that are under way have arrived. To be called before the driver is closed.
func (f *faulty) Settle() { f.late.Wait() }

// Unwrap implements [driver.Wrapper].
func (f *faulty) Unwrap() driver.Driver { return f.Driver }

// A fault is what happens to one call.
type fault int

const (
	none fault = iota
	loseRequest
	loseReply
	twice
	late
	slow
)

// draw decides about the next call.
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

func (f *faulty) losesPush() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.random.Float64() < f.faults.LosePush
}

// pass makes one call over the connection.
func pass[T any](ctx context.Context, f *faulty, call func(context.Context) (T, error)) (v T, err error) {
	what, delay := f.draw()
	switch what {
	case loseRequest:
		return v, errLost
	case loseReply:
		call(ctx) // the caller is not to know
		return v, errLost
	case slow:
		if err := driver.Sleep(ctx, delay); err != nil {
			return v, err
		}
	}
	v, err = call(ctx)
	switch what {
	case twice:
		call(ctx) // the caller has its answer
	case late:
		f.later(ctx, delay, func(ctx context.Context) { call(ctx) }) // the caller has its answer
	}
	return v, err
}

// lateness bounds what comes late, so that a server that hangs keeps no test from its end.
const lateness = time.Minute

// later applies a call after a delay, even when its context has ended by then. Settle waits for it.
func (f *faulty) later(ctx context.Context, delay time.Duration, call func(context.Context)) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lateness)
	f.late.Go(func() {
		defer cancel()
		if driver.Sleep(ctx, delay) == nil {
			call(ctx)
		}
	})
}

// act is pass for calls that answer with an error alone.
func (f *faulty) act(ctx context.Context, call func(context.Context) error) error {
	_, err := pass(ctx, f, func(ctx context.Context) (struct{}, error) { return struct{}{}, call(ctx) })
	return err
}

// Request implements [driver.Driver].
func (f *faulty) Request(ctx context.Context, c driver.Claim) (driver.Status, error) {
	return pass(ctx, f, func(ctx context.Context) (driver.Status, error) { return f.Driver.Request(ctx, c) })
}

// Release implements [driver.Driver].
func (f *faulty) Release(ctx context.Context, c driver.Claim) error {
	return f.act(ctx, func(ctx context.Context) error { return f.Driver.Release(ctx, c) })
}

// Queue implements [driver.Driver].
func (f *faulty) Queue(ctx context.Context, name string) ([]driver.Entry, error) {
	return pass(ctx, f, func(ctx context.Context) ([]driver.Entry, error) { return f.Driver.Queue(ctx, name) })
}

// Renew implements [driver.Renewer].
func (f *faulty) Renew(ctx context.Context, claims []driver.Claim) ([]driver.Result, error) {
	return pass(ctx, f, func(ctx context.Context) ([]driver.Result, error) {
		return driver.Renew(ctx, f.Driver, claims)
	})
}

// Propose implements [driver.Proposer].
func (f *faulty) Propose(ctx context.Context, c driver.Claim, token uint64) (driver.Status, error) {
	return pass(ctx, f, func(ctx context.Context) (driver.Status, error) {
		return driver.Propose(ctx, f.Driver, c, token)
	})
}

// Vote implements [driver.Voter].
func (f *faulty) Vote(ctx context.Context, c driver.Claim, token uint64) (driver.Status, driver.Life, error) {
	type ballot struct {
		st   driver.Status
		life driver.Life
	}
	b, err := pass(ctx, f, func(ctx context.Context) (b ballot, err error) {
		b.st, b.life, err = driver.Vote(ctx, f.Driver, c, token)
		return b, err
	})
	return b.st, b.life, err
}

// Life implements [driver.Living].
func (f *faulty) Life(ctx context.Context) (driver.Life, error) {
	return pass(ctx, f, func(ctx context.Context) (driver.Life, error) { return driver.LifeOf(ctx, f.Driver) })
}

// Break implements [driver.Breaker].
func (f *faulty) Break(ctx context.Context, name, id string) error {
	return f.act(ctx, func(ctx context.Context) error { return driver.Break(ctx, f.Driver, name, id) })
}

// Revoke implements [driver.Revoker].
func (f *faulty) Revoke(ctx context.Context, name, id string) error {
	return f.act(ctx, func(ctx context.Context) error { return driver.Revoke(ctx, f.Driver, name, id) })
}

// Value implements [driver.ValueStore].
func (f *faulty) Value(ctx context.Context, name string) (driver.Value, error) {
	return pass(ctx, f, func(ctx context.Context) (driver.Value, error) { return driver.ValueOf(ctx, f.Driver, name) })
}

// SetValue implements [driver.ValueStore].
func (f *faulty) SetValue(ctx context.Context, c driver.Claim, v driver.Value) error {
	return f.act(ctx, func(ctx context.Context) error { return driver.SetValue(ctx, f.Driver, c, v) })
}

// Watch implements [driver.Watcher].
func (f *faulty) Watch(ctx context.Context, name string) error {
	return driver.Watch(ctx, f.Driver, name)
}

// Wait implements [driver.Waiter].
func (f *faulty) Wait(ctx context.Context, c driver.Claim) (driver.Status, error) {
	if f.losesPush() {
		driver.Wait(ctx, f.Driver, c) // lost on the way
		<-ctx.Done()
		return driver.Status{}, ctx.Err()
	}
	return driver.Wait(ctx, f.Driver, c)
}

// List implements [driver.Lister]. A fault ends it before the first name.
func (f *faulty) List(ctx context.Context, prefix string) iter.Seq2[string, error] {
	if what, _ := f.draw(); what == loseRequest || what == loseReply {
		return func(yield func(string, error) bool) { yield("", errLost) }
	}
	return driver.List(ctx, f.Driver, prefix)
}
