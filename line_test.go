package holdfast_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/memlock"
)

// A line is a driver behind a network that can fail. Its zero faults pass everything on. What was sent together travels
// together.
type line struct {
	driver.Driver

	mu       sync.Mutex
	faults   faults
	requests map[string]int // by kind of operation; "renew" counts batches, and "renewed claim" what is in them
	batch    int            // the largest number of claims in one renewal
}

type faults struct {
	cut       bool // requests do not arrive, and hang until their context ends
	mute      bool // requests arrive and are applied; their answers do not come back
	refuse    error
	loseReply int           // so many next answers to requests are lost, which the caller learns
	slow      time.Duration // answers take so long to come back
	late      time.Duration // requests take so long to arrive
	again     time.Duration // so long after they arrived, a copy of them does
}

func overLine(d driver.Driver) *line {
	return &line{Driver: d, requests: make(map[string]int)}
}

func (l *line) Unwrap() driver.Driver { return l.Driver }

func (l *line) set(f faults) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.faults = f
}

func (l *line) count(what string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.requests[what]
}

// now counts operations that are about to be sent, and returns what is wrong with the line.
func (l *line) now(ops []driver.Op) faults {
	l.mu.Lock()
	defer l.mu.Unlock()
	renewals, requests := 0, 0
	for _, op := range ops {
		switch {
		case op.Kind != driver.OpRequest:
			l.requests[op.Kind.String()]++
		case op.Brief:
			renewals++
		default:
			requests++
		}
	}
	l.batch = max(l.batch, renewals)
	l.requests["request"] += requests
	l.requests["renew"] += min(renewals, 1)
	l.requests["renewed claim"] += renewals
	f := l.faults
	if requests > 0 && f.loseReply > 0 {
		l.faults.loseReply--
	} else {
		f.loseReply = 0
	}
	return f
}

// Do implements [driver.Driver].
func (l *line) Do(ctx context.Context, ops []driver.Op, done func(int, driver.Result)) {
	results, err := l.pass(ctx, ops)
	for i := range ops {
		if err != nil {
			done(i, driver.Result{Err: err})
		} else {
			done(i, results[i])
		}
	}
}

// pass sends operations over the line.
func (l *line) pass(ctx context.Context, ops []driver.Op) ([]driver.Result, error) {
	switch f := l.now(ops); {
	case f.refuse != nil:
		return nil, f.refuse
	case f.cut:
		<-ctx.Done()
		return nil, ctx.Err()
	case f.mute:
		l.send(context.WithoutCancel(ctx), ops)
		<-ctx.Done()
		return nil, ctx.Err()
	case f.loseReply > 0:
		l.send(ctx, ops)
		return nil, context.DeadlineExceeded
	default:
		if late := driver.Sleep(ctx, f.late); f.late > 0 && late != nil {
			return nil, late
		}
		results := l.send(ctx, ops)
		if f.again > 0 {
			copied := slices.Clone(ops)
			time.AfterFunc(f.again, func() { l.send(context.WithoutCancel(ctx), copied) })
		}
		if late := driver.Sleep(ctx, f.slow); f.slow > 0 && late != nil {
			return nil, late
		}
		return results, nil
	}
}

// send has operations done at the other end of the line.
func (l *line) send(ctx context.Context, ops []driver.Op) []driver.Result {
	var mu sync.Mutex
	results := make([]driver.Result, len(ops))
	l.Driver.Do(ctx, ops, func(i int, r driver.Result) {
		mu.Lock()
		defer mu.Unlock()
		results[i] = r
	})
	return results
}

// Subscribe implements [driver.Driver]. What would be told while the line is down is lost.
func (l *line) Subscribe(tell func(driver.Event)) (stop func()) {
	return l.Driver.Subscribe(func(e driver.Event) {
		l.mu.Lock()
		down := l.faults.cut || l.faults.mute
		l.mu.Unlock()
		if !down {
			tell(e)
		}
	})
}

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
