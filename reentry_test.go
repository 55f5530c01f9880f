package holdfast_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
)

type acquireFunc func(context.Context, *holdfast.Client, ...holdfast.Option) (*holdfast.Lease, error)

func asMutex(ctx context.Context, c *holdfast.Client, o ...holdfast.Option) (*holdfast.Lease, error) {
	return c.Mutex("x", o...).Lock(ctx)
}

func tryMutex(ctx context.Context, c *holdfast.Client, o ...holdfast.Option) (*holdfast.Lease, error) {
	return c.Mutex("x", o...).TryLock(ctx)
}

func asWriter(ctx context.Context, c *holdfast.Client, o ...holdfast.Option) (*holdfast.Lease, error) {
	return c.RWMutex("x", o...).Lock(ctx)
}

func asReader(ctx context.Context, c *holdfast.Client, o ...holdfast.Option) (*holdfast.Lease, error) {
	return c.RWMutex("x", o...).RLock(ctx)
}

func asPermit(ctx context.Context, c *holdfast.Client, o ...holdfast.Option) (*holdfast.Lease, error) {
	return c.Semaphore("x", 2, o...).Acquire(ctx, 1)
}

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
		_, a, b, ended := firstHolds(t)
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
		_, a, _, m := firstHolds(t)
		n := must(a.Mutex("n").Lock(m.Context()))(t)
		_, err := a.Mutex("m").Lock(n.Context())
		wantErr(t, err, holdfast.ErrDeadlock)
	})
}

// One context is for one line of calls: of several goroutines that acquire again through it, one gets in at a time.
func TestSharedContextLetsOneIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a, _ := twoClients(t, holdfast.WithReentrant())
		outer := must(a.Mutex("m").Lock(t.Context()))(t)
		var wg sync.WaitGroup
		inside, refused := 0, 0
		for range 5 {
			wg.Go(func() {
				inner, err := a.Mutex("m").Lock(outer.Context())
				if err != nil {
					wantErr(t, err, holdfast.ErrDeadlock)
					refused++
					return
				}
				if inside++; inside > 1 {
					t.Errorf("%d are inside at once", inside)
				}
				time.Sleep(time.Second)
				inside--
				inner.Release(t.Context())
			})
			synctest.Wait()
		}
		wg.Wait()
		if refused != 4 {
			t.Errorf("%d of 5 were refused", refused)
		}
		must(a.Mutex("m").Lock(outer.Context()))(t) // one after the other is one line of calls
	})
}

// What was acquired through a context has to be released before the context acquires the lock once more, however deep
// it is, unless both only read.
func TestReentryNests(t *testing.T) {
	for _, row := range []struct {
		name           string
		outer          acquireFunc
		inner, sibling acquireFunc
		release        []int // these of outer, inner, innermost, before the sibling comes
		refused        bool
	}{
		{"two at once", asMutex, asMutex, asMutex, nil, true},
		{"two at once, one tries", asMutex, asMutex, tryMutex, nil, true},
		{"the inner one is released before the innermost", asMutex, asMutex, asMutex, []int{1}, true},
		{"the innermost is released", asMutex, asMutex, asMutex, []int{2}, true},
		{"both are released", asMutex, asMutex, asMutex, []int{1, 2}, false},
		{"a writer beside a writer's reader", asWriter, asReader, asWriter, nil, true},
		{"a reader beside a writer's writer", asWriter, asWriter, asReader, nil, true},
		{"a writer's readers", asWriter, asReader, asReader, nil, false},
		{"a reader's readers", asReader, asReader, asReader, nil, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, a, _ := twoClients(t, holdfast.WithReentrant())
				outer := must(row.outer(t.Context(), a))(t)
				inner := must(row.inner(outer.Context(), a))(t)
				leases := []*holdfast.Lease{outer, inner, must(row.inner(inner.Context(), a))(t)}
				for _, i := range row.release {
					leases[i].Release(t.Context())
				}
				sibling, err := row.sibling(outer.Context(), a)
				if row.refused {
					wantErr(t, err, holdfast.ErrDeadlock)
				} else if err != nil {
					t.Error(err)
				} else {
					leases = append(leases, sibling)
				}
				for _, lease := range leases {
					if err := lease.Release(t.Context()); err != nil {
						t.Error(err)
					}
				}
				must(asMutex(t.Context(), a))(t)
			})
		})
	}
}

func TestLeaseFrom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a, _ := twoClients(t)
		if l, ok := holdfast.LeaseFrom(t.Context()); ok || l != nil {
			t.Errorf("a context without a lease carries %v", l)
		}
		err := a.Mutex("outer").Do(t.Context(), func(ctx context.Context, outer *holdfast.Lease) error {
			inner := must(a.Mutex("inner").Lock(ctx))(t)
			defer inner.Release(ctx)
			for want, ctx := range map[*holdfast.Lease]context.Context{outer: ctx, inner: inner.Context()} {
				if l, ok := holdfast.LeaseFrom(ctx); !ok || l != want {
					t.Errorf("it carries %v, want the lease on %q", l, want.Name())
				}
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		ended := must(a.Mutex("outer").Lock(t.Context()))(t)
		ended.Release(t.Context())
		if l, ok := holdfast.LeaseFrom(ended.Context()); !ok || l != ended {
			t.Errorf("a lease that is over is %v", l)
		}
	})
}

// Goroutines whose contexts carry no lease exclude each other, and the holder; they end with it all the same.
func TestWithoutLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a, b := twoClients(t, holdfast.WithReentrant())
		outer := must(a.Mutex("m").Lock(t.Context()))(t)
		ctx := holdfast.WithoutLease(outer.Context())
		if l, ok := holdfast.LeaseFrom(ctx); ok {
			t.Errorf("it carries %v", l)
		}
		_, err := a.Mutex("m").TryLock(ctx)
		wantErr(t, err, holdfast.ErrNotAcquired)
		other := must(a.Mutex("n").Lock(ctx))(t)
		if l, ok := holdfast.LeaseFrom(other.Context()); !ok || l != other {
			t.Errorf("the lease acquired under it is %v", l)
		}
		b.Break(t.Context(), "m", queued(t, b, "m")[0].ID)
		<-ctx.Done()
		wantErr(t, context.Cause(ctx), holdfast.ErrLost)
	})
}
