package servertables

import (
	"context"
	"database/sql"
	"errors"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast/internal/dbms"
	"github.com/holdfast-go/holdfast/sqllock/internal/health"
)

// A Pooler is what a proxy between a program and the server pools.
type Pooler string

const (
	FindOut      Pooler = ""            // whatever a look at two connections tells
	Sessions     Pooler = "session"     // sessions, or there is none: a connection has a session of its own
	Transactions Pooler = "transaction" // transactions: each statement may go to another session, and those are not ours
)

// A way is how connections reach the server. In sessions that others share nothing of ours is left behind: no setting, no
// prepared statement, no wake lock; and no statement waits, because it would keep a session from the others.
type way struct {
	db      *sql.DB
	dialect *Dialect
	most    int // wake locks of a connection
	shared  atomic.Bool
}

func findWay(ctx context.Context, db *sql.DB, d *Dialect, p Pooler) (*way, error) {
	w := &way{db: db, dialect: d}
	shared, err := p == Transactions, error(nil)
	if p == FindOut {
		shared, err = w.look(ctx)
	}
	if w.shared.Store(shared); !shared && err == nil {
		w.most, err = w.room(ctx)
	}
	return w, d.explain(err)
}

// lookTime is for how long connections of a caller's pool are waited for.
const lookTime = 2 * time.Second

// look reports whether sessions are shared, as far as that can be told: it takes two connections.
func (w *way) look(ctx context.Context) (shared bool, err error) {
	most := w.db.Stats().MaxOpenConnections
	if most == 1 {
		return false, nil
	}
	if most > 0 {
		limited, cancel := context.WithTimeout(ctx, lookTime)
		defer cancel()
		shared, err = health.Pooled(limited, w.db, w.dialect.sessionID)
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			return false, nil // others have the connections
		}
		return shared, err
	}
	return health.Pooled(ctx, w.db, w.dialect.sessionID)
}

// share notes that sessions are shared, as an error has shown.
func (w *way) share() { w.shared.Store(true) }

// wakeLocks is how many a connection may have.
func (w *way) wakeLocks() int {
	if w.shared.Load() {
		return 0
	}
	return w.most
}

// room is how many wake locks the server lets a connection have.
func (w *way) room(ctx context.Context) (int, error) {
	var limit string
	err := w.db.QueryRowContext(ctx, w.dialect.limit).Scan(&limit)
	switch {
	case err == nil:
		return min(w.dialect.within(limit), w.dialect.wakeLocks), nil
	case dbms.Code(err) != "" && !health.Stray(err):
		return w.dialect.wakeLocks, nil // this server has no such limit
	}
	return 0, err
}
