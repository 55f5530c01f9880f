package holdfasttest

import (
	"context"
	"iter"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

var errGone = driver.ErrGone

// A line is a driver behind a network that can fail. It has the abilities of what it wraps, each of them over the line.
type line struct {
	driver.Driver

	mu     sync.Mutex
	faults faults
}

type faults struct {
	cut, mute bool
	delay     time.Duration
}

func (f faults) broken() bool { return f.cut || f.mute }

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

// pass sends one request over the line.
func pass[T any](ctx context.Context, l *line, send func(context.Context) (T, error)) (T, error) {
	var none T
	f := l.state()
	if f.mute {
		send(context.WithoutCancel(ctx))
	}
	if f.broken() {
		<-ctx.Done()
		return none, ctx.Err()
	}
	v, err := send(ctx)
	if f.delay > 0 {
		if late := driver.Sleep(ctx, f.delay); late != nil {
			return none, late
		}
	}
	return v, err
}

// passOnly is pass for what has no answer but an error.
func passOnly(ctx context.Context, l *line, send func(context.Context) error) error {
	_, err := pass(ctx, l, func(ctx context.Context) (struct{}, error) { return struct{}{}, send(ctx) })
	return err
}

func (l *line) Request(ctx context.Context, c driver.Claim) (driver.Status, error) {
	return pass(ctx, l, func(ctx context.Context) (driver.Status, error) { return l.Driver.Request(ctx, c) })
}

func (l *line) Renew(ctx context.Context, claims []driver.Claim) ([]driver.Result, error) {
	return pass(ctx, l, func(ctx context.Context) ([]driver.Result,
		error) {
		return driver.Renew(ctx, l.Driver, claims)
	})
}

func (l *line) Release(ctx context.Context, c driver.Claim) error {
	return passOnly(ctx, l, func(ctx context.Context) error { return l.Driver.Release(ctx, c) })
}

func (l *line) Queue(ctx context.Context, name string) ([]driver.Entry, error) {
	return pass(ctx, l, func(ctx context.Context) ([]driver.Entry, error) { return l.Driver.Queue(ctx, name) })
}

func (l *line) Break(ctx context.Context, name, id string) error {
	return passOnly(ctx, l, func(ctx context.Context) error { return driver.Break(ctx, l.Driver, name, id) })
}

func (l *line) Revoke(ctx context.Context, name, id string) error {
	return passOnly(ctx, l, func(ctx context.Context) error { return driver.Revoke(ctx, l.Driver, name, id) })
}

func (l *line) Value(ctx context.Context, name string) (driver.Value, error) {
	return pass(ctx, l, func(ctx context.Context) (driver.Value, error) { return driver.ValueOf(ctx, l.Driver, name) })
}

func (l *line) SetValue(ctx context.Context, c driver.Claim, v driver.Value) error {
	return passOnly(ctx, l, func(ctx context.Context) error { return driver.SetValue(ctx, l.Driver, c, v) })
}

// List asks once, before it yields.
func (l *line) List(ctx context.Context, prefix string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		if err := passOnly(ctx, l, func(context.Context) error { return nil }); err != nil {
			yield("", err)
			return
		}
		driver.List(ctx, l.Driver, prefix)(yield)
	}
}

// Wait and Watch are ways of pushes: nothing comes while the line is broken.
func (l *line) Wait(ctx context.Context, c driver.Claim) (driver.Status, error) {
	st, err := driver.Wait(ctx, l.Driver, c)
	if l.state().broken() {
		<-ctx.Done()
		return driver.Status{}, ctx.Err()
	}
	return st, err
}

func (l *line) Watch(ctx context.Context, name string) error {
	err := driver.Watch(ctx, l.Driver, name)
	if l.state().broken() {
		<-ctx.Done()
		return ctx.Err()
	}
	return err
}

// Listen passes word on; what it makes the client ask goes over the line.
func (l *line) Listen(ctx context.Context, c driver.Claim, moved func()) (stop func(), err error) {
	listener, _ := driver.As[driver.Listener](l.Driver)
	return pass(ctx, l, func(ctx context.Context) (func(), error) { return listener.Listen(ctx, c, moved) })
}

// Identity tells the store from others.
func (l *line) Identity() string { return driver.Identity(l.Driver) }
