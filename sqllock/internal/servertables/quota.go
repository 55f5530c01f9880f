package servertables

import (
	"database/sql"
	"sync"
)

// A quota is how many connections of a database a client may have. If the caller has bounded the pool it is half of
// them, rounded up: the others are left to the caller.
type quota struct {
	db *sql.DB

	mu    sync.Mutex
	taken int
}

// take reserves a connection. It is false where there is none left, unless there must be one.
func (q *quota) take(must bool) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	most := q.db.Stats().MaxOpenConnections
	if !must && most > 0 && q.taken >= (most+1)/2 {
		return false
	}
	q.taken++
	return true
}

func (q *quota) give() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.taken--
}
