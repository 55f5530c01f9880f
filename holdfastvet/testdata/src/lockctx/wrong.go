package lockctx

import (
	"context"
	"net/http"
	"time"

	"github.com/holdfast-go/holdfast"
)

func ship(ctx context.Context, order int) error                          { return nil }
func both(section, outer context.Context) error                          { return nil }
func mine(context.Context, func(context.Context, *holdfast.Lease) error) {}

func inDo(ctx context.Context, m *holdfast.Mutex) error {
	return m.Do(ctx, func(held context.Context, lease *holdfast.Lease) error {
		return ship(ctx, 42) // want `^ctx is from outside .* does not end when the lock is lost; use held$`
	})
}

func inRun(ctx context.Context, e *holdfast.Election) error {
	return e.Run(ctx, "here", func(leading context.Context, lease *holdfast.Lease) error {
		for range 3 {
			if err := ship((ctx), 1); err != nil { // want `use leading`
				return err
			}
		}
		return nil
	})
}

func inLeases(ctx context.Context, ls holdfast.Leases) error {
	return ls.Do(ctx, func(held context.Context, ls holdfast.Leases) error {
		short, cancel := context.WithTimeout(ctx, time.Second) // want `use held`
		defer cancel()
		return ship(short, 1)
	})
}

func unnamed(ctx context.Context, m *holdfast.Mutex) error {
	return m.Do(ctx, func(_ context.Context, lease *holdfast.Lease) error {
		return ship(ctx, 1) // want `name the context that the section gets, and use that`
	})
}

func nested(ctx context.Context, a, b *holdfast.Mutex) error {
	return a.Do(ctx, func(heldA context.Context, lease *holdfast.Lease) error {
		return b.Do(ctx, func(heldB context.Context, lease *holdfast.Lease) error { // want `use heldA`
			return ship(heldA, 1) // want `use heldB`
		})
	})
}

func inClosure(ctx context.Context, m *holdfast.Mutex, each func(func() error) error) error {
	return m.Do(ctx, func(held context.Context, lease *holdfast.Lease) error {
		return each(func() error {
			return ship(ctx, 1) // want `use held`
		})
	})
}

// The name of the section's context means something else here, so there is no mend.
func shadowed(ctx context.Context, m *holdfast.Mutex) error {
	return m.Do(ctx, func(held context.Context, lease *holdfast.Lease) error {
		for _, held := range []int{1, 2} {
			ship(ctx, held) // want `use held`
		}
		return ship(held, 1)
	})
}

func elsewhere(ctx context.Context) {
	mine(ctx, func(held context.Context, lease *holdfast.Lease) error {
		return ship(ctx, 1) // want `use held`
	})
}

func named(ctx context.Context, m *holdfast.Mutex) error {
	section := func(held context.Context, lease *holdfast.Lease) error {
		return ship(ctx, 1) // want `use held`
	}
	return m.Do(ctx, section)
}

func handler(m *holdfast.Mutex) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		m.Do(r.Context(), func(held context.Context, lease *holdfast.Lease) error {
			return ship(r.Context(), 1) // want `^r.Context\(\) is from outside .*; use held$`
		})
	}
}
