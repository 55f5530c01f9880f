package holdfast_test

import (
	"context"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/batch"
)

// next passes an operation on: see [batch.Interceptor].
type next = func(driver.Op) driver.Result

// onRequests returns a driver that has f do the requests of d, renewals among them.
func onRequests(d driver.Driver, f batch.Interceptor) driver.Driver {
	return batch.Intercept(d, func(ctx context.Context, op driver.Op, next next) driver.Result {
		if op.Kind != driver.OpRequest {
			return next(op)
		}
		return f(ctx, op, next)
	})
}

// doOne does one operation by itself.
func doOne(ctx context.Context, d driver.Driver, op driver.Op) (r driver.Result) {
	d.Do(ctx, []driver.Op{op}, func(_ int, got driver.Result) { r = got })
	return r
}

// A withTraits is a driver that says other things of itself. It does what it says that it can do.
type withTraits struct {
	driver.Driver
	change func(*driver.Traits)
}

func (d withTraits) Unwrap() driver.Driver { return d.Driver }

func (d withTraits) Traits() driver.Traits {
	t := d.Driver.Traits()
	d.change(&t)
	return t
}

func (d withTraits) Do(ctx context.Context, ops []driver.Op, done func(int, driver.Result)) {
	t := d.Traits()
	batch.Intercept(d.Driver, func(_ context.Context, op driver.Op, next next) driver.Result {
		if !t.Ops.Has(op.Kind) {
			return driver.Result{Err: driver.Unsupported(t, op.Kind.String())}
		}
		return next(op)
	}).Do(ctx, ops, done)
}

// An untold driver tells of nothing by itself.
type untold struct{ driver.Driver }

func (untold) Subscribe(func(driver.Event)) (stop func()) { return func() {} }

// A followed driver tells of claims what wait returns, as one does whose engine does not push. It tells of no queues.
type followed struct {
	driver.Driver
	events driver.Followers
}

func following(d driver.Driver, wait func(context.Context, driver.Claim) (driver.Status, error)) *followed {
	f := &followed{}
	f.events.Wait = wait
	f.Driver = batch.Intercept(d, f.note)
	return f
}

// askNowAndThen is a way to wait: it tells nothing but to ask.
func askNowAndThen(ctx context.Context, _ driver.Claim) (driver.Status, error) {
	return driver.Status{}, driver.Sleep(ctx, 100*time.Millisecond)
}

func (f *followed) note(ctx context.Context, op driver.Op, next next) driver.Result {
	if op.Kind == driver.OpWatch {
		return driver.Result{Err: f.events.Watch(ctx, op.Claim.Name)}
	}
	r := next(op)
	f.events.Note(op, r)
	return r
}

func (f *followed) Subscribe(tell func(driver.Event)) (stop func()) { return f.events.Subscribe(tell) }

func (f *followed) Close() error {
	f.events.Close()
	return f.Driver.Close()
}
