package servertables

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// errRowLocked says that another session keeps the row of a lock locked for long. Nothing was done.
var errRowLocked = errors.New("another session keeps the row of this lock locked; end the transaction that does")

// atLock lets f do what is about a lock. If another session keeps the lock's row locked for long, f goes on over
// connections of the delayed pool, because those of the requests are needed for the other locks. There it asks until
// ctx ends, in turns with work on other locked rows.
func atLock[T any](ctx context.Context, d *Driver, name string, f func(context.Context, *lane) (T, error)) (T, error) {
	at := affinity{name: name}
	if !d.lockedRows.has(name) {
		v, err := attempt(ctx, d.requests, at, f)
		if !errors.Is(err, errRowLocked) {
			return v, err
		}
		d.lockedRows.add(name)
	}
	v, err := run(ctx, d.delayed, at, f)
	if err == nil || errors.Is(err, driver.ErrGone) {
		d.lockedRows.remove(name)
	}
	return v, err
}

// lockedRows are the locks whose rows another session had locked a moment ago.
type lockedRows struct {
	mu    sync.Mutex
	until map[string]time.Time
}

const (
	lockedTime = 10 * time.Second // for which a row is taken to be locked without another look
	lockedMost = 1024             // locks to remember
)

func (r *lockedRows) has(name string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return time.Now().Before(r.until[name])
}

func (r *lockedRows) add(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.until == nil || len(r.until) >= lockedMost {
		r.until = make(map[string]time.Time)
	}
	r.until[name] = time.Now().Add(lockedTime)
}

func (r *lockedRows) remove(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.until, name)
}
