package servertables

import (
	"context"
	"sync"
	"time"
)

// idleConns are connections for waiting that were used a moment ago and may be used again.
type idleConns struct {
	open func(context.Context) (*conn, error)

	mu     sync.Mutex
	conns  []*conn
	closed bool
}

const idleMost = 2

// give returns a connection: a new one if none is idle.
func (i *idleConns) give(ctx context.Context) (*conn, error) {
	i.mu.Lock()
	if n := len(i.conns); n > 0 {
		c := i.conns[n-1]
		i.conns = i.conns[:n-1]
		i.mu.Unlock()
		return c, nil
	}
	i.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, openTime)
	defer cancel()
	return i.open(ctx)
}

// take keeps a connection for a while.
func (i *idleConns) take(c *conn) {
	if c == nil {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.closed || len(i.conns) >= idleMost {
		c.close()
		return
	}
	i.conns = append(i.conns, c)
	time.AfterFunc(idleTime, func() { i.retire(c) })
}

// retire closes a connection that nobody has used since.
func (i *idleConns) retire(c *conn) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for n, idle := range i.conns {
		if idle == c {
			i.conns = append(i.conns[:n], i.conns[n+1:]...)
			c.close()
			return
		}
	}
}

func (i *idleConns) close() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.closed = true
	for _, c := range i.conns {
		c.close()
	}
	i.conns = nil
}
