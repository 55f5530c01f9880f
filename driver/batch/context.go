package batch

import (
	"context"
	"reflect"
	"time"
)

// A sharedContext bounds how long operations take that are sent alone. A context with a timer costs as much as
// the rest of an operation in memory, so operations of about the same time share one if they have the same
// context and limit. The lock of a stripe guards what is after of.
type sharedContext struct {
	context.Context
	cancel context.CancelFunc
	of     context.Context
	limit  time.Duration
	since  time.Duration

	users   int
	retired bool // nobody joins any more
}

// sharePart is the part of its limit for which others may join a context. Each of them has the whole limit still.
const sharePart = 4

// share returns a context that ends when ctx does, or when limit and at most a quarter of it have passed.
// release must be called with it.
func (st *stripe) share(ctx context.Context, limit, at time.Duration) *sharedContext {
	c := st.shared
	if c != nil && c.limit == limit && at-c.since < limit/sharePart && canCompare(ctx) && c.of == ctx {
		c.users++
		return c
	}
	st.retire()
	c = &sharedContext{of: ctx, limit: limit, since: at, users: 1}
	c.Context, c.cancel = context.WithTimeout(ctx, limit+limit/sharePart)
	st.shared = c
	return c
}

// release says that an operation was answered, or given up.
func (c *sharedContext) release() {
	c.users--
	if c.users == 0 && c.retired {
		c.cancel()
	}
}

// retire lets nobody join the last context any more.
func (st *stripe) retire() {
	if c := st.shared; c != nil {
		c.retired = true
		if c.users == 0 {
			c.cancel()
		}
	}
}

// canCompare reports whether a context may be compared with another: not all types can be.
func canCompare(ctx context.Context) bool {
	return reflect.TypeOf(ctx).Kind() == reflect.Pointer || ctx == context.Background()
}
