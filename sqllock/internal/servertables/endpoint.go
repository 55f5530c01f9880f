package servertables

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast/internal/dbms"
	"github.com/holdfast-go/holdfast/sqllock/internal/health"
)

// An endpoint is what connections reach: the server itself, or a proxy that lets others share its sessions. In a shared
// session nothing of ours is left behind: no setting, no prepared statement, no wake lock. And no statement waits
// there, because it would keep the session from the others.
type endpoint struct {
	db      *sql.DB
	dialect *Dialect
	most    int // wake locks of a connection
	shared  atomic.Bool

	mu    sync.Mutex
	taken int // connections of this client
}

func newEndpoint(ctx context.Context, db *sql.DB, d *Dialect, s Settings) (e *endpoint, err error) {
	e = &endpoint{db: db, dialect: d}
	shared := s.Shared
	if s.FindOut {
		shared, err = e.look(ctx)
	}
	if e.shared.Store(shared); !shared && err == nil {
		e.most, err = e.maxWakeLocks(ctx)
	}
	return e, d.explain(err)
}

// lookTime is for how long connections of a caller's pool are waited for.
const lookTime = 2 * time.Second

// look reports whether sessions are shared, as far as that can be told: it takes two connections.
func (e *endpoint) look(ctx context.Context) (shared bool, err error) {
	most := e.db.Stats().MaxOpenConnections
	if most == 1 {
		return false, nil
	}
	if most > 0 {
		limited, cancel := context.WithTimeout(ctx, lookTime)
		defer cancel()
		shared, err = health.Pooled(limited, e.db, e.dialect.SessionID)
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			return false, nil // others have the connections
		}
		return shared, err
	}
	return health.Pooled(ctx, e.db, e.dialect.SessionID)
}

// take reserves a connection. If the caller has bounded the database's pool, it is false where this client has half of
// that, rounded up, unless there must be one: the others are left to the caller.
func (e *endpoint) take(must bool) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	most := e.db.Stats().MaxOpenConnections
	if !must && most > 0 && e.taken >= (most+1)/2 {
		return false
	}
	e.taken++
	return true
}

func (e *endpoint) give() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.taken--
}

// wakeLocks is how many a connection may have.
func (e *endpoint) wakeLocks() int {
	if e.shared.Load() {
		return 0
	}
	return e.most
}

// maxWakeLocks is how many wake locks the server lets a connection have.
func (e *endpoint) maxWakeLocks(ctx context.Context) (int, error) {
	var limit string
	err := e.db.QueryRowContext(ctx, e.dialect.limit).Scan(&limit)
	switch {
	case err == nil:
		return min(e.dialect.within(limit), e.dialect.wakeLocks), nil
	case dbms.Code(err) != "" && !health.Stray(err):
		return e.dialect.wakeLocks, nil // this server has no such limit
	}
	return 0, err
}
