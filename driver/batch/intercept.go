package batch

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// Intercept returns a driver that has f do each operation of d. f may call next, which passes an operation on to d and
// returns its result, once, never or several times, for this operation or another one on the same claim. f is called
// from several goroutines at a time.
//
// Operations that came as a batch are passed on together, unless f takes longer for some of them than for others: no
// operation waits for an f that blocks. If the driver panics then, results are missing, and the panic goes up to the
// caller of Do. Events are passed on as they are.
func Intercept(d driver.Driver, f Interceptor) driver.Driver { return &intercepted{d, f} }

// An Interceptor does an operation, usually by next: see [Intercept].
type Interceptor func(ctx context.Context, op driver.Op, next func(driver.Op) driver.Result) driver.Result

type intercepted struct {
	driver.Driver
	intercept Interceptor
}

// Unwrap implements [driver.Wrapper].
func (d *intercepted) Unwrap() driver.Driver { return d.Driver }

// Do implements [driver.Driver].
func (d *intercepted) Do(ctx context.Context, ops []driver.Op, done func(int, driver.Result)) {
	if len(ops) == 1 {
		done(0, d.intercept(ctx, ops[0], func(op driver.Op) driver.Result { return d.pass(ctx, op) }))
		return
	}
	m := &meeting{driver: d.Driver, ctx: ctx, outside: len(ops)}
	for i, op := range ops {
		m.running.Go(func() {
			defer m.leave()
			done(i, d.intercept(ctx, op, m.pass))
		})
	}
	m.running.Wait()
	if m.panic != nil {
		panic(m.panic)
	}
}

// pass passes one operation on.
func (d *intercepted) pass(ctx context.Context, op driver.Op) driver.Result {
	r := driver.Result{Err: errNoResult}
	d.Driver.Do(ctx, []driver.Op{op}, func(_ int, got driver.Result) { r = got })
	return r
}

// A meeting is where the operations of a batch come together again behind their interceptors.
type meeting struct {
	driver  driver.Driver
	ctx     context.Context
	running sync.WaitGroup

	mu      sync.Mutex
	outside int         // interceptors that may still come
	here    []*passing  // not yet passed on
	timer   *time.Timer // passes those on that are here
	panic   *Panic      // the first
}

// A passing operation is on its way to the driver.
type passing struct {
	op     driver.Op
	result chan driver.Result // closed when there will be none
}

// meetingPatience is how long those that are here wait for others.
const meetingPatience = time.Millisecond

// pass passes an operation on, together with others that come at about the same time.
func (m *meeting) pass(op driver.Op) driver.Result {
	p := &passing{op: op, result: make(chan driver.Result, 1)}
	m.come(p)
	r, ok := <-p.result
	m.mu.Lock()
	m.outside++
	m.mu.Unlock()
	if !ok {
		return driver.Result{Err: errNoResult}
	}
	return r
}

func (m *meeting) come(p *passing) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.here = append(m.here, p)
	m.outside--
	if len(m.here) == 1 {
		m.timer = time.AfterFunc(meetingPatience, m.passOn)
	}
	m.passOnAll()
}

// leave counts an interceptor that has returned, and keeps its panic for the caller of Do.
func (m *meeting) leave() {
	p := caught(recover())
	m.mu.Lock()
	defer m.mu.Unlock()
	m.outside--
	m.panic = cmp.Or(m.panic, p)
	m.passOnAll()
}

// passOnAll passes on what is here if nobody else is to come. mu is held.
func (m *meeting) passOnAll() {
	if m.outside > 0 || len(m.here) == 0 {
		return
	}
	m.timer.Stop()
	here := m.here
	m.here = nil
	m.running.Go(func() { m.send(here) })
}

// passOn passes on what is here, whoever is to come.
func (m *meeting) passOn() {
	m.mu.Lock()
	defer m.mu.Unlock()
	outside := m.outside
	m.outside = 0
	m.passOnAll()
	m.outside = outside
}

// send passes operations on to the driver.
func (m *meeting) send(here []*passing) {
	ops := make([]driver.Op, len(here))
	for i, p := range here {
		ops[i] = p.op
	}
	defer func() {
		p := caught(recover())
		m.mu.Lock()
		m.panic = cmp.Or(m.panic, p)
		m.mu.Unlock()
		for _, p := range here {
			close(p.result)
		}
	}()
	m.driver.Do(m.ctx, ops, func(i int, r driver.Result) { here[i].result <- r })
}
