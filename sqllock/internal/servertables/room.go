package servertables

import (
	"context"
	"database/sql"
	"sync"
)

// A room is how many connections of a database a client may have. Of a pool that the caller has bounded it is half of them,
// rounded up: the others are left to the caller.
type room struct {
	db *sql.DB

	mu    sync.Mutex
	taken int
}

// take reserves a connection. It is false where there is none left, unless there must be one.
func (r *room) take(must bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	most := r.db.Stats().MaxOpenConnections
	if !must && most > 0 && r.taken >= (most+1)/2 {
		return false
	}
	r.taken++
	return true
}

// open opens a connection for which there is room until it is closed.
func (r *room) open(ctx context.Context, w *way) (*conn, error) {
	if !r.take(false) {
		return nil, errNoRoom
	}
	c, err := openConn(ctx, w)
	if err != nil {
		r.give()
		return nil, err
	}
	c.closed = r.give
	return c, nil
}

func (r *room) give() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.taken--
}
