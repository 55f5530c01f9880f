package holdfast_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/holdfast-go/holdfast"
)

type acquireFunc func(context.Context, *holdfast.Client, ...holdfast.Option) (*holdfast.Lease, error)

var (
	asMutex acquireFunc = func(ctx context.Context, c *holdfast.Client, o ...holdfast.Option) (*holdfast.Lease, error) {
		return c.Mutex("x", o...).Lock(ctx)
	}
	tryMutex acquireFunc = func(ctx context.Context, c *holdfast.Client, o ...holdfast.Option) (*holdfast.Lease, error) {
		return c.Mutex("x", o...).TryLock(ctx)
	}
	asWriter acquireFunc = func(ctx context.Context, c *holdfast.Client, o ...holdfast.Option) (*holdfast.Lease, error) {
		return c.RWMutex("x", o...).Lock(ctx)
	}
	asReader acquireFunc = func(ctx context.Context, c *holdfast.Client, o ...holdfast.Option) (*holdfast.Lease, error) {
		return c.RWMutex("x", o...).RLock(ctx)
	}
	asPermit acquireFunc = func(ctx context.Context, c *holdfast.Client, o ...holdfast.Option) (*holdfast.Lease, error) {
		return c.Semaphore("x", 2, o...).Acquire(ctx, 1)
	}
)

func TestAcquiringWhatTheContextHolds(t *testing.T) {
	for _, row := range []struct {
		name                  string
		first, second         acquireFunc
		plain, withReentrancy error // nil: it succeeds
	}{
		{"mutex twice", asMutex, asMutex, holdfast.ErrDeadlock, nil},
		{"mutex, then try", asMutex, tryMutex, holdfast.ErrDeadlock, nil},
		{"writer twice", asWriter, asWriter, holdfast.ErrDeadlock, nil},
		{"writer, then reader", asWriter, asReader, holdfast.ErrDeadlock, nil},
		{"reader twice", asReader, asReader, holdfast.ErrDeadlock, nil},
		{"reader, then writer", asReader, asWriter, holdfast.ErrDeadlock, holdfast.ErrDeadlock},
		{"permit twice", asPermit, asPermit, nil, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, a, _ := twoClients(t)
				for _, try := range []struct {
					opts []holdfast.Option
					want error
				}{{nil, row.plain}, {[]holdfast.Option{holdfast.WithReentrant()}, row.withReentrancy}} {
					outer := must(row.first(t.Context(), a, try.opts...))(t)
					inner, err := row.second(outer.Context(), a, try.opts...)
					if !errors.Is(err, try.want) {
						t.Errorf("with %d options: %v, want %v", len(try.opts), err, try.want)
					}
					if err == nil {
						inner.Release(t.Context())
					}
					if err := outer.Release(t.Context()); err != nil {
						t.Error(err)
					}
				}
			})
		})
	}
}

func TestReentrantLeasesCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a, b := twoClients(t, holdfast.WithReentrant())
		outer := must(a.Mutex("m").Lock(t.Context()))(t)
		inner := must(a.Mutex("m").Lock(outer.Context()))(t)
		innermost := must(a.Mutex("m").Lock(inner.Context()))(t)
		if outer.Token() != inner.Token() || inner.Token() != innermost.Token() {
			t.Error("tokens differ")
		}
		for i, lease := range []*holdfast.Lease{outer, innermost, inner} {
			if _, err := b.Mutex("m").TryLock(t.Context()); !errors.Is(err, holdfast.ErrNotAcquired) {
				t.Errorf("free after %d of 3 releases: %v", i, err)
			}
			if err := lease.Release(t.Context()); err != nil {
				t.Error(err)
			}
			wantErr(t, lease.Err(), holdfast.ErrReleased)
			wantErr(t, context.Cause(lease.Context()), holdfast.ErrReleased)
		}
		must(b.Mutex("m").TryLock(t.Context()))(t)
	})
}

func TestLossEndsAllLevels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a, b := twoClients(t, holdfast.WithReentrant())
		outer := must(a.Mutex("m").Lock(t.Context()))(t)
		inner := must(a.Mutex("m").Lock(outer.Context()))(t)
		b.Break(t.Context(), "m", queued(t, b, "m")[0].ID)
		<-inner.Done()
		<-outer.Done()
		wantErr(t, inner.Release(t.Context()), holdfast.ErrLost)
		wantErr(t, outer.Release(t.Context()), holdfast.ErrLost)
	})
}

func TestWhatDoesNotCountAsHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a, b := twoClients(t)
		ended := must(a.Mutex("m").Lock(t.Context()))(t)
		ended.Release(t.Context())
		lease := must(a.Mutex("m").Lock(context.WithoutCancel(ended.Context())))(t)
		must(a.Mutex("other").Lock(lease.Context()))(t)
		if _, err := b.Mutex("m").TryLock(lease.Context()); !errors.Is(err, holdfast.ErrNotAcquired) {
			t.Errorf("another client's lock of that name: %v", err)
		}
	})
}

func TestReentrancyReachesThroughOtherLocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a, _ := twoClients(t)
		m := must(a.Mutex("m").Lock(t.Context()))(t)
		n := must(a.Mutex("n").Lock(m.Context()))(t)
		_, err := a.Mutex("m").Lock(n.Context())
		wantErr(t, err, holdfast.ErrDeadlock)
	})
}
