package fence

import "context"

type contextKey struct{}

// A carried is what a context carries. There are two kinds of token: that of a lock that we hold, which Transport
// sends, and that of a lock of our client's, which Handler has received. A call onwards must not take one for the
// other.
type carried struct {
	last     uint64 // of either kind: what was put in last
	held     *uint64
	received *visit
}

func carriedBy(ctx context.Context) carried {
	c, _ := ctx.Value(contextKey{}).(carried)
	return c
}

// NewContext returns a context that carries the token of a lock that we hold, for [Transport] to send.
func NewContext(ctx context.Context, token uint64) context.Context {
	c := carriedBy(ctx)
	c.last, c.held = token, &token
	return context.WithValue(ctx, contextKey{}, c)
}

// receive returns a context that carries the token of the request that is served.
func (v *visit) receive(ctx context.Context) context.Context {
	c := carriedBy(ctx)
	if c.received != nil && c.received.token == v.token {
		v.around = c.received
	}
	c.last, c.received = v.token, v
	return context.WithValue(ctx, contextKey{}, c)
}

// Held returns the token that [NewContext] put into a context.
func Held(ctx context.Context) (token uint64, ok bool) {
	if c := carriedBy(ctx); c.held != nil {
		return *c.held, true
	}
	return 0, false
}

// Received returns the token of the request that [Handler] serves with this context. Transport does not send it,
// because it belongs to a lock of the client's. To pass it on to a service that guards the same resource, use
// [NewContext].
func Received(ctx context.Context) (token uint64, ok bool) {
	if c := carriedBy(ctx); c.received != nil {
		return c.received.token, true
	}
	return 0, false
}

// FromContext returns the token that a context carries: the one that [Handler] or [NewContext] put in last. [Received]
// and [Held] tell the two apart.
func FromContext(ctx context.Context) (token uint64, ok bool) {
	c := carriedBy(ctx)
	return c.last, c.held != nil || c.received != nil
}
