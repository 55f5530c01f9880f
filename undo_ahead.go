package holdfast

import (
	"context"
	"sync/atomic"
	"time"
)

// ahead counts the claims that this client is about to take back, for each lock. A request that does not wait would
// find such a claim in its way, and call a lock taken that nobody holds, so it waits until each was tried once. The
// undoer's lock guards all but total.
type ahead struct {
	total atomic.Int64 // most requests find zero here, and need no more
	locks map[string]*claimsAhead
}

// claimsAhead are those on one lock.
type claimsAhead struct {
	n     int
	until instant       // nobody waits for longer
	none  chan struct{} // closed when n is zero
}

// add counts a claim whose requests have the time that goes with its TTL.
func (a *ahead) add(name string, ttl time.Duration) {
	c := a.locks[name]
	if c == nil {
		if a.locks == nil {
			a.locks = make(map[string]*claimsAhead)
		}
		c = &claimsAhead{none: make(chan struct{})}
		a.locks[name] = c
	}
	c.n++
	c.until = max(c.until, now().add(attemptLimit(ttl)))
	a.total.Add(1)
}

// done ends that.
func (a *ahead) done(name string) {
	a.total.Add(-1)
	c := a.locks[name]
	if c.n--; c.n == 0 {
		delete(a.locks, name)
		close(c.none)
	}
}

// expect announces a claim that will be given to undo soon. The function that it returns must be called after that.
func (u *undoer) expect(name string, ttl time.Duration) (over func()) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.ahead.add(name, ttl)
	return func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		u.ahead.done(name)
	}
}

// makeWay waits until this client has tried to take back what it no longer wants of a lock. It waits for the time of
// one attempt at most, and not when the client or ctx has ended.
func (u *undoer) makeWay(ctx context.Context, name string) {
	if u.ahead.total.Load() == 0 {
		return
	}
	u.mu.Lock()
	var none chan struct{}
	var left time.Duration
	if c := u.ahead.locks[name]; c != nil {
		none, left = c.none, c.until.sub(now())
	}
	u.mu.Unlock()
	if none == nil || left <= 0 {
		return
	}
	late := time.NewTimer(left)
	defer late.Stop()
	select {
	case <-none:
	case <-late.C:
	case <-ctx.Done():
	case <-u.client.closing.Done():
	}
}
