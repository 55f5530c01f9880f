package holdfast_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/batch"
	"github.com/holdfast-go/holdfast/memlock"
)

// deaf returns a driver that hears no context end: its releases take an hour.
func deaf(d driver.Driver) driver.Driver {
	return batch.Intercept(d, func(_ context.Context, op driver.Op, next next) driver.Result {
		if op.Kind != driver.OpRelease {
			return next(op)
		}
		time.Sleep(time.Hour)
		return driver.Result{Err: errors.New("too late")}
	})
}

// Whatever is broken and however much is held, Close returns when its context ends.
func TestCloseReturnsByItsContext(t *testing.T) {
	const within = time.Second
	refusal := errors.New("connection refused")
	for name, broken := range map[string]struct {
		faults faults
		isDeaf bool
	}{
		"requests hang":            {faults: faults{cut: true}},
		"answers do not come back": {faults: faults{mute: true}},
		"requests fail":            {faults: faults{refuse: refusal}},
		"requests are refused":     {faults: faults{refuse: driver.ErrRefused}},
		"answers are slow":         {faults: faults{slow: within / 3}},
		"contexts are ignored":     {isDeaf: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := overLine(memlock.New())
				d := replaceable(l)
				c := holdfast.New(d, holdfast.WithTTL(10*time.Minute))
				lockMany(t, c, 320)
				lease := must(c.Mutex("m").Lock(t.Context()))(t)
				if l.set(broken.faults); broken.isDeaf {
					d.by(deaf(l))
				}
				ctx, cancel := context.WithTimeout(t.Context(), within)
				defer cancel()
				began := time.Now()
				wantErr(t, c.Close(ctx), holdfast.ErrUnknown, context.DeadlineExceeded)
				if took := time.Since(began); took > within+25*time.Millisecond {
					t.Errorf("Close took %v", took)
				}
				wantErr(t, lease.Err(), holdfast.ErrReleased)
				wantErr(t, lease.Release(t.Context()), holdfast.ErrUnknown)
				time.Sleep(2 * time.Hour) // until the last has heard
			})
		})
	}
}

// A replaced driver is another one from some moment on.
type replaced struct {
	mu    sync.Mutex
	now   driver.Driver
	tells []func(driver.Event) // who has subscribed, which lasts as long as the test
}

func replaceable(d driver.Driver) *replaced { return &replaced{now: d} }

func (r *replaced) by(d driver.Driver) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now = d
	for _, tell := range r.tells {
		d.Subscribe(tell)
	}
}

func (r *replaced) Unwrap() driver.Driver {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now
}

func (r *replaced) Traits() driver.Traits { return r.Unwrap().Traits() }
func (r *replaced) Close() error          { return r.Unwrap().Close() }

func (r *replaced) Do(ctx context.Context, ops []driver.Op, done func(int, driver.Result)) {
	r.Unwrap().Do(ctx, ops, done)
}

func (r *replaced) Subscribe(tell func(driver.Event)) (stop func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tells = append(r.tells, tell)
	return r.now.Subscribe(tell)
}

// Without a bound of its own Close gives up when the last claim has expired.
func TestCloseGivesUpWhatHasExpired(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := overLine(memlock.New())
		c := holdfast.New(l)
		lockMany(t, c, 320)
		l.set(faults{cut: true})
		began := time.Now()
		wantErr(t, c.Close(t.Context()), holdfast.ErrUnknown)
		if took := time.Since(began); took > ttl+2*attempt {
			t.Errorf("Close took %v", took)
		}
	})
}

// A program that closes under a context which has ended, as after a signal, still gives back what it holds.
func TestCloseUnderAContextThatHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, a, b := twoClients(t)
		lockMany(t, a, 320)
		l.set(faults{slow: 10 * time.Millisecond})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := a.Close(ctx); err != nil {
			t.Error(err)
		}
		if q := queued(t, b, "319"); len(q) > 0 {
			t.Errorf("%d claims are left", len(q))
		}
	})
}

// Close with a context that has ended gives back what is held for as long as its doc says, if the backend is silent.
func TestGraceOfClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, a, _, _ := firstHolds(t)
		l.set(faults{cut: true})
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		start := time.Now()
		if err := a.Close(ended); err == nil {
			t.Error("it says that all was given back")
		}
		if took := time.Since(start); took > 2100*time.Millisecond {
			t.Errorf("it took %v", took)
		}
	})
}

// All holders learn at once that the client is closed, not one after the other as their locks are given back.
func TestCloseTellsAllHoldersFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, a, _ := twoClients(t)
		lockMany(t, a, 320)
		lease := must(a.Mutex("m").Lock(t.Context()))(t)
		l.set(faults{slow: time.Second})
		go a.Close(t.Context())
		synctest.Wait()
		wantErr(t, lease.Err(), holdfast.ErrReleased)
	})
}

// Release returns by its own context, though Close is giving the lock back and has more time.
func TestReleaseDuringClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, a, _, lease := firstHolds(t)
		l.set(faults{cut: true})
		go a.Close(t.Context())
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		wantErr(t, lease.Release(ctx), holdfast.ErrUnknown, context.DeadlineExceeded)
		if took := time.Since(start); took != time.Second {
			t.Errorf("Release took %v, its context lasted for a second", took)
		}
		l.set(faults{})
	})
}

// Close and Release say what came of the locks where that is known, also when their context ends just then.
func TestEndIsKnownAtTheEnd(t *testing.T) {
	for range 30 {
		c := newClient(t, memlock.New())
		lease := must(c.Mutex("m").Lock(t.Context()))(t)
		if err := c.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := c.Close(endingContext(t)); err != nil {
			t.Fatal(err)
		}
		if err := lease.Release(endingContext(t)); err != nil {
			t.Fatal(err)
		}
	}
}

// An ending context ends as soon as somebody is about to wait for that.
type ending struct {
	context.Context
	end context.CancelFunc
}

func endingContext(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	return ending{ctx, cancel}
}

func (c ending) Done() <-chan struct{} {
	c.end()
	return c.Context.Done()
}

// A release that the backend does not answer ends soon after Close has, and who waits for the lock does with Close.
func TestUnansweredReleaseEndsWithTheClient(t *testing.T) {
	for how, opts := range map[string][]holdfast.Option{
		"given back":           nil,
		"kept for its minimum": {holdfast.WithMinHold(time.Hour)},
	} {
		t.Run(how, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const within = time.Second
				l := overLine(memlock.New())
				c := holdfast.New(l, append(opts, holdfast.WithTTL(10*time.Minute))...)
				lease := must(c.Mutex("m").Lock(t.Context()))(t)
				l.set(faults{cut: true})
				began := time.Now()
				released, waited := make(chan error, 1), make(chan error, 1)
				go func() { released <- lease.Release(t.Context()) }()
				synctest.Wait()
				go func() { waited <- second(c.Mutex("m").Lock(t.Context())) }()
				synctest.Wait()
				ctx, cancel := context.WithTimeout(t.Context(), within)
				defer cancel()
				wantErr(t, c.Close(ctx), context.DeadlineExceeded)
				wantErr(t, <-waited, holdfast.ErrClosed)
				wantErr(t, <-released, holdfast.ErrUnknown)
				if took := time.Since(began); took > within+2*attempt {
					t.Errorf("it took %v", took)
				}
			})
		})
	}
}
