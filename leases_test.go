package holdfast_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
)

// several locks a, b and c under a context that carries a value.
func several(t *testing.T, c *holdfast.Client) holdfast.Leases {
	t.Helper()
	ctx := context.WithValue(t.Context(), valueKey{}, "value")
	return must(holdfast.LockAll(ctx, c.Mutex("c"), c.Mutex("a"), c.Mutex("b")))(t)
}

type valueKey struct{}

// The context of several leases ends with any of them, says why, and carries them all.
func TestLeasesContext(t *testing.T) {
	for name, end := range map[string]struct {
		by    func(*testing.T, *holdfast.Client, holdfast.Leases)
		cause error
	}{
		"one is lost": {func(t *testing.T, b *holdfast.Client, _ holdfast.Leases) {
			b.Break(t.Context(), "b", queued(t, b, "b")[0].ID)
		}, holdfast.ErrLost},
		"one is released": {func(t *testing.T, _ *holdfast.Client, ls holdfast.Leases) {
			ls[1].Release(t.Context())
		}, holdfast.ErrReleased},
		"all are released": {func(t *testing.T, _ *holdfast.Client, ls holdfast.Leases) {
			ls.Release(t.Context())
		}, holdfast.ErrReleased},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, a, b := twoClients(t)
				leases := several(t, a)
				ctx := leases.Context()
				time.Sleep(time.Hour)
				if ctx.Err() != nil || ctx.Value(valueKey{}) != "value" {
					t.Errorf("it has ended: %v, and carries %v", context.Cause(ctx), ctx.Value(valueKey{}))
				}
				for _, l := range leases {
					if _, err := a.Mutex(l.Name()).TryLock(ctx); !errors.Is(err, holdfast.ErrDeadlock) {
						t.Errorf("it does not carry %q: %v", l.Name(), err)
					}
				}
				if l, ok := holdfast.LeaseFrom(ctx); !ok || l != leases[2] {
					t.Errorf("the last lease is %v", l)
				}
				derived, cancel := context.WithCancel(ctx)
				defer cancel()
				end.by(t, b, leases)
				<-derived.Done()
				wantErr(t, ctx.Err(), context.Canceled)
				wantErr(t, context.Cause(ctx), end.cause)
				wantErr(t, context.Cause(leases.Context()), end.cause) // made too late
			})
		})
	}
}

// The context, and that of Do, are right in the first instruction after a pause.
func TestLeasesContextLooksAtTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cable, a, _ := twoClients(t)
		leases := several(t, a)
		ctx := leases.Context()
		cable.set(faults{cut: true})
		leases.Do(t.Context(), func(inside context.Context, _ holdfast.Leases) error {
			until := leases.ValidUntil()
			if left := time.Until(until); left <= 0 || left > ttl {
				t.Errorf("%v are left", left)
			}
			pause := time.NewTimer(time.Until(until))
			<-pause.C
			for name, c := range map[string]context.Context{"Context": ctx, "Do": inside} {
				if c.Err() == nil || !errors.Is(context.Cause(c), holdfast.ErrLost) {
					t.Errorf("%s: %v at the deadline", name, context.Cause(c))
				}
			}
			return nil
		})
	})
}

// The first deadline counts.
func TestLeasesValidUntil(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a, _ := twoClients(t)
		leases := must(holdfast.LockAll(t.Context(),
			a.Mutex("a"), a.Mutex("b", holdfast.WithTTL(time.Second)), a.Mutex("c", holdfast.WithTTL(time.Hour))))(t)
		if got, want := leases.ValidUntil(), leases[1].ValidUntil(); !got.Equal(want) {
			t.Errorf("valid until %v, want %v", got, want)
		}
		leases[0] = nil // an empty place is none
		if err := leases.Context().Err(); err != nil || leases.ValidUntil().IsZero() || leases.Err() != nil {
			t.Errorf("with an empty place: %v", err)
		}
		none := must(holdfast.LockAll(t.Context()))(t)
		if got := none.ValidUntil(); !got.IsZero() || none.Context().Err() != nil || none.Err() != nil {
			t.Errorf("no leases: valid until %v, %v", got, none.Context().Err())
		}
	})
}

func TestLeasesDo(t *testing.T) {
	failed := errors.New("no stock")
	for _, row := range []struct {
		name string
		do   func(ctx context.Context, b *holdfast.Client, ls holdfast.Leases) error
		want []error
	}{
		{"all is well", func(context.Context, *holdfast.Client, holdfast.Leases) error { return nil }, nil},
		{"it fails", func(context.Context, *holdfast.Client, holdfast.Leases) error { return failed }, []error{failed}},
		{"it loses one, and does not say so", func(ctx context.Context, b *holdfast.Client, _ holdfast.Leases) error {
			queue, _ := b.Queue(ctx, "b")
			b.Break(ctx, "b", queue[0].ID)
			<-ctx.Done()
			return nil
		}, []error{holdfast.ErrLost}},
		{"it loses one, and fails", func(ctx context.Context, b *holdfast.Client, _ holdfast.Leases) error {
			queue, _ := b.Queue(ctx, "b")
			b.Break(ctx, "b", queue[0].ID)
			<-ctx.Done()
			return failed
		}, []error{holdfast.ErrLost, failed}},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, a, b := twoClients(t)
				err := several(t, a).Do(t.Context(), func(ctx context.Context, ls holdfast.Leases) error {
					if ctx.Err() != nil || ls.Err() != nil || len(ls) != 3 {
						t.Errorf("it begins with %v, %v", ctx.Err(), ls.Err())
					}
					return row.do(ctx, b, ls)
				})
				wantErr(t, err, row.want...)
				if row.want == nil && err != nil {
					t.Error(err)
				}
				must(holdfast.LockAll(t.Context(), b.Mutex("a"), b.Mutex("b"), b.Mutex("c")))(t)
			})
		})
	}
}

// Do ends with its caller, releases after a panic, and begins nothing under a lock that is lost.
func TestLeasesDoEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a, b := twoClients(t)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err := several(t, a).Do(ctx, func(ctx context.Context, ls holdfast.Leases) error {
			<-ctx.Done()
			return errors.Join(ls.Err(), context.Cause(ctx))
		})
		wantErr(t, err, context.DeadlineExceeded)
		if errors.Is(err, holdfast.ErrLost) {
			t.Errorf("the leases ended with the caller: %v", err)
		}
		func() {
			defer func() {
				if recover() != "oops" {
					t.Error("the panic was swallowed")
				}
			}()
			several(t, a).Do(t.Context(), func(context.Context, holdfast.Leases) error { panic("oops") })
		}()
		leases := several(t, a)
		b.Break(t.Context(), "b", queued(t, b, "b")[0].ID)
		<-leases[2].Done()
		err = leases.Do(t.Context(), func(context.Context, holdfast.Leases) error {
			t.Error("work is done under a lost lock")
			return nil
		})
		wantErr(t, err, holdfast.ErrLost)
		several(t, b)
	})
}
