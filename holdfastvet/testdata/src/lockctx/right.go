package lockctx

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/holdfast-go/holdfast"
)

var background = context.Background()

type server struct{ ctx context.Context }

func own(ctx context.Context, m *holdfast.Mutex) error {
	return m.Do(ctx, func(ctx context.Context, lease *holdfast.Lease) error {
		ctx = context.WithValue(ctx, "a", "b")
		return ship(ctx, 1)
	})
}

func onPurpose(ctx context.Context, m, other *holdfast.Mutex, s server) error {
	return m.Do(ctx, func(held context.Context, lease *holdfast.Lease) error {
		kept := context.WithoutCancel(ctx)
		ship(kept, 1)
		ship(context.WithoutCancel(ctx), 1)
		ship(background, 1)
		ship(context.Background(), 1)
		ship(s.ctx, 1)
		both(held, ctx)
		slog.InfoContext(ctx, "shipping")
		if outer, ok := holdfast.LeaseFrom(ctx); ok && userFromContext(ctx) != "" {
			ship(outer.Context(), 1)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return lease.Release(ctx)
	})
}

// What goes on after the section, or comes at its end, would not get far with a context that ends with the lock.
func afterwards(ctx context.Context, m *holdfast.Mutex) error {
	return m.Do(ctx, func(held context.Context, lease *holdfast.Lease) error {
		defer ship(ctx, 1)
		defer func() { ship(ctx, 2) }()
		go ship(ctx, 3)
		go func() { ship(ctx, 4) }()
		stop := context.AfterFunc(held, func() { ship(ctx, 5) })
		defer stop()
		time.AfterFunc(time.Second, func() { ship(ctx, 6) })
		return ship(held, 7)
	})
}

func userFromContext(context.Context) string { return "" }

func requested(r *http.Request, m *holdfast.Mutex) {
	m.Do(r.Context(), func(held context.Context, lease *holdfast.Lease) error {
		r = r.WithContext(held)
		own, err := http.NewRequest("PUT", "http://a", nil)
		if err != nil {
			return err
		}
		return errors.Join(ship(r.Context(), 1), ship(own.Context(), 1))
	})
}

func assigned(ctx context.Context, m *holdfast.Mutex) error {
	var inside context.Context
	return m.Do(ctx, func(held context.Context, lease *holdfast.Lease) error {
		inside = context.WithValue(held, "a", "b")
		return ship(inside, 1)
	})
}

// Other functions with a context are no sections.
func noSection(ctx context.Context, each func(func(context.Context, int) error) error) error {
	return each(func(other context.Context, n int) error { return ship(ctx, n) })
}

func inGoroutine(ctx context.Context, m *holdfast.Mutex) {
	go m.Do(ctx, func(ctx context.Context, lease *holdfast.Lease) error { return ship(ctx, 1) })
}
