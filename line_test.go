package holdfast_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/memlock"
)

// A line is a driver behind a network that can fail. Its zero faults pass everything on.
type line struct {
	driver.Driver

	mu       sync.Mutex
	faults   faults
	requests map[string]int // by method
	batch    int            // the largest number of claims in one renewal
}

type faults struct {
	cut       bool // requests do not arrive, and hang until their context ends
	mute      bool // requests arrive and are applied; their answers do not come back
	refuse    error
	loseReply int           // so many next answers of Request are lost, which the caller learns
	slow      time.Duration // answers take so long to come back
	late      time.Duration // requests take so long to arrive
	again     time.Duration // so long after they arrived, a copy of them does
}

func overLine(d driver.Driver) *line {
	return &line{Driver: d, requests: make(map[string]int)}
}

func (l *line) set(f faults) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.faults = f
}

func (l *line) count(method string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.requests[method]
}

func (l *line) now(method string) faults {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.requests[method]++
	f := l.faults
	if method == "request" && f.loseReply > 0 {
		l.faults.loseReply--
	} else {
		f.loseReply = 0
	}
	return f
}

// pass sends one request over the line.
func pass[T any](ctx context.Context, l *line, method string, send func(context.Context) (T, error)) (T, error) {
	var none T
	switch f := l.now(method); {
	case f.refuse != nil:
		return none, f.refuse
	case f.cut:
		<-ctx.Done()
		return none, ctx.Err()
	case f.mute:
		send(context.WithoutCancel(ctx))
		<-ctx.Done()
		return none, ctx.Err()
	case f.loseReply > 0:
		send(ctx)
		return none, context.DeadlineExceeded
	default:
		if late := driver.Sleep(ctx, f.late); f.late > 0 && late != nil {
			return none, late
		}
		v, err := send(ctx)
		if f.again > 0 {
			time.AfterFunc(f.again, func() { send(context.WithoutCancel(ctx)) })
		}
		if late := driver.Sleep(ctx, f.slow); f.slow > 0 && late != nil {
			return none, late
		}
		return v, err
	}
}

// passed is pass for a request that is answered by an error alone.
func passed(ctx context.Context, l *line, method string, send func(context.Context) error) error {
	_, err := pass(ctx, l, method, func(ctx context.Context) (struct{}, error) { return struct{}{}, send(ctx) })
	return err
}

func (l *line) Request(ctx context.Context, c driver.Claim) (driver.Status, error) {
	return pass(ctx, l, "request", func(ctx context.Context) (driver.Status, error) { return l.Driver.Request(ctx, c) })
}

func (l *line) Release(ctx context.Context, c driver.Claim) error {
	return passed(ctx, l, "release", func(ctx context.Context) error { return l.Driver.Release(ctx, c) })
}

func (l *line) Renew(ctx context.Context, claims []driver.Claim) ([]driver.Result, error) {
	l.mu.Lock()
	l.batch = max(l.batch, len(claims))
	l.requests["renewed claim"] += len(claims)
	l.mu.Unlock()
	return pass(ctx, l, "renew", func(ctx context.Context) ([]driver.Result, error) {
		return driver.Renew(ctx, l.Driver, claims)
	})
}

func (l *line) Queue(ctx context.Context, name string) ([]driver.Entry, error) {
	return pass(ctx, l, "queue", func(ctx context.Context) ([]driver.Entry, error) { return l.Driver.Queue(ctx, name) })
}

// Wait is the way of pushes: nothing comes while the line is down.
func (l *line) Wait(ctx context.Context, c driver.Claim) (driver.Status, error) {
	st, err := driver.Wait(ctx, l.Driver, c)
	l.mu.Lock()
	down := l.faults.cut || l.faults.mute
	l.mu.Unlock()
	if down {
		<-ctx.Done()
		return driver.Status{}, ctx.Err()
	}
	return st, err
}

func (l *line) Break(ctx context.Context, name, id string) error {
	return passed(ctx, l, "break", func(ctx context.Context) error { return driver.Break(ctx, l.Driver, name, id) })
}

func (l *line) Value(ctx context.Context, name string) (driver.Value, error) {
	return pass(ctx, l, "value", func(ctx context.Context) (driver.Value, error) {
		return driver.ValueOf(ctx, l.Driver, name)
	})
}

func (l *line) SetValue(ctx context.Context, c driver.Claim, v driver.Value) error {
	_, err := pass(ctx, l, "set value", func(ctx context.Context) (struct{}, error) {
		return struct{}{}, driver.SetValue(ctx, l.Driver, c, v)
	})
	return err
}

func (l *line) Unwrap() driver.Driver { return l.Driver }

// newClient returns a client on a store, closed with the test.
func newClient(t testing.TB, d driver.Driver, opts ...holdfast.Option) *holdfast.Client {
	t.Helper()
	c := holdfast.New(d, opts...)
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		c.Close(ctx)
		if n := holdfast.Expected(c); n != 0 && !t.Failed() {
			t.Errorf("the client was closed, and still expects to be told about %d claims or queues", n)
		}
	})
	return c
}

// twoClients returns two clients of one store, the first over a line that can fail.
func twoClients(t testing.TB, opts ...holdfast.Option) (*line, *holdfast.Client, *holdfast.Client) {
	t.Helper()
	store := memlock.New()
	l := overLine(store)
	return l, newClient(t, l, opts...), newClient(t, store.Client(), opts...)
}

// firstHolds is twoClients of which the first holds the lock m.
func firstHolds(t testing.TB) (l *line, a, b *holdfast.Client, lease *holdfast.Lease) {
	t.Helper()
	l, a, b = twoClients(t)
	return l, a, b, must(a.Mutex("m").Lock(t.Context()))(t)
}
