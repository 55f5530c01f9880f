package holdfast

import (
	"context"
	"reflect"
	"sync"
	"time"
)

// attempts bounds how long single requests take. A context with a timer costs as much as much else that a lock needs, so
// requests of about the same time share one if they were made under the same context, as those of a worker or a crowd are.
type attempts struct {
	mu   sync.Mutex
	last *attempt
}

// An attempt is the context of one request, or of some. It has the values of the context it is made of.
type attempt struct {
	context.Context
	cancel context.CancelFunc
	of     context.Context
	limit  time.Duration
	since  instant

	// Guarded by attempts.mu.
	users   int
	retired bool // nobody joins any more
}

// shareTime is the part of its limit for which others may join an attempt. Each of them has the whole limit still.
const shareTime = 4

// begin returns a context that ends when ctx does, or when the limit and at most a quarter of it have passed. end must be
// called with it.
func (as *attempts) begin(ctx context.Context, limit time.Duration, at instant) *attempt {
	as.mu.Lock()
	defer as.mu.Unlock()
	if a := as.last; a != nil && a.limit == limit && at.sub(a.since) < limit/shareTime && canCompare(ctx) && a.of == ctx {
		a.users++
		return a
	}
	as.retire()
	as.last = &attempt{of: ctx, limit: limit, since: at, users: 1}
	as.last.Context, as.last.cancel = context.WithTimeout(ctx, limit+limit/shareTime)
	return as.last
}

// end says that a request was answered, or given up.
func (as *attempts) end(a *attempt) {
	as.mu.Lock()
	defer as.mu.Unlock()
	a.users--
	if a.users == 0 && a.retired {
		a.cancel()
	}
}

// retire lets nobody join the last attempt any more. mu is held.
func (as *attempts) retire() {
	if a := as.last; a != nil {
		a.retired = true
		if a.users == 0 {
			a.cancel()
		}
	}
}

// canCompare reports whether a context may be compared with another: not all types can be.
func canCompare(ctx context.Context) bool {
	return reflect.TypeOf(ctx).Kind() == reflect.Pointer || ctx == context.Background()
}
