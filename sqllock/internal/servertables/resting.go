package servertables

import (
	"context"
	"sync"
	"time"
)

// resting are connections for waiting that were used a moment ago and may be used again.
type resting struct {
	open func(context.Context) (*conn, error)

	mu     sync.Mutex
	conns  []*conn
	closed bool
}

const restingMost = 2

// give returns a connection, a new one if none rests.
func (r *resting) give(ctx context.Context) (*conn, error) {
	r.mu.Lock()
	if n := len(r.conns); n > 0 {
		c := r.conns[n-1]
		r.conns = r.conns[:n-1]
		r.mu.Unlock()
		return c, nil
	}
	r.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, openTime)
	defer cancel()
	return r.open(ctx)
}

// take lets a connection rest for a while.
func (r *resting) take(c *conn) {
	if c == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || len(r.conns) >= restingMost {
		c.close()
		return
	}
	r.conns = append(r.conns, c)
	time.AfterFunc(restingTime, func() { r.retire(c) })
}

// retire closes a connection that has rested since.
func (r *resting) retire(c *conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, resting := range r.conns {
		if resting == c {
			r.conns = append(r.conns[:i], r.conns[i+1:]...)
			c.close()
			return
		}
	}
}

func (r *resting) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	for _, c := range r.conns {
		c.close()
	}
	r.conns = nil
}
