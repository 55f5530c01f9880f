package holdfast

import (
	"context"
	"sync/atomic"
	"time"
)

// ahead has the claims that this client is about to take back, for each lock. A request that does not wait would find
// such a claim in its way, and call a lock taken that nobody holds, so it waits until each was tried once. It does not
// wait for those that come later, or others whose waits time out all the time could keep it for long. The undoer's lock
// guards all but total.
type ahead struct {
	total atomic.Int64 // most requests find zero here, and need no more
	locks map[string]*claimsAhead
}

// claimsAhead are claims on one lock. Those that somebody waits for are sealed, and what comes next is another lot.
type claimsAhead struct {
	name     string
	n        int
	expected int // so many of them are not there yet
	sealed   bool
	until    instant       // nobody waits for longer
	none     chan struct{} // closed when n is zero
	before   *claimsAhead  // those that came before
}

// add counts a claim whose requests have the time that goes with its TTL. done must be called with what it returns.
// A claim may be one that was expected, so it joins those with which it would be.
func (a *ahead) add(name string, ttl time.Duration) *claimsAhead {
	c := a.locks[name].expecting()
	if c == nil {
		c = a.open(name)
	}
	a.count(c, ttl)
	return c
}

func (a *ahead) count(c *claimsAhead, ttl time.Duration) {
	c.n++
	c.until = max(c.until, now().add(attemptLimit(ttl)))
	a.total.Add(1)
}

// open returns the lot that is not sealed.
func (a *ahead) open(name string) *claimsAhead {
	c := a.locks[name]
	if c != nil && !c.sealed {
		return c
	}
	if a.locks == nil {
		a.locks = make(map[string]*claimsAhead)
	}
	c = &claimsAhead{name: name, none: make(chan struct{}), before: c}
	a.locks[name] = c
	return c
}

// expecting returns the oldest lot of which claims are expected; nil if there is none.
func (c *claimsAhead) expecting() (oldest *claimsAhead) {
	for ; c != nil; c = c.before {
		if c.expected > 0 {
			oldest = c
		}
	}
	return oldest
}

// done ends that.
func (a *ahead) done(c *claimsAhead) {
	a.total.Add(-1)
	if c.n--; c.n > 0 {
		return
	}
	close(c.none)
	if left := a.locks[c.name].pending(); left != nil {
		a.locks[c.name] = left
	} else {
		delete(a.locks, c.name)
	}
}

// pending returns the lots that are not empty.
func (c *claimsAhead) pending() *claimsAhead {
	if c == nil {
		return nil
	}
	if c.before = c.before.pending(); c.n == 0 {
		return c.before
	}
	return c
}

// seal returns what tells when all that are there now were tried, and how long that may take.
func (c *claimsAhead) seal() (all []<-chan struct{}, left time.Duration) {
	if c == nil {
		return nil, 0
	}
	c.sealed = true
	until := c.until
	for ; c != nil; c = c.before {
		all = append(all, c.none)
		until = max(until, c.until)
	}
	return all, until.sub(now())
}

// expect announces a claim that will be given to undo soon. The function that it returns must be called after that.
func (u *undoer) expect(name string, ttl time.Duration) (over func()) {
	u.mu.Lock()
	defer u.mu.Unlock()
	c := u.ahead.open(name)
	c.expected++
	u.ahead.count(c, ttl)
	return func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		c.expected--
		u.ahead.done(c)
	}
}

// makeWay waits until this client has tried to take back what it no longer wants of a lock. It waits for the time of
// one attempt at most, and not when the client or ctx has ended.
func (u *undoer) makeWay(ctx context.Context, name string) {
	if u.ahead.total.Load() == 0 {
		return
	}
	u.mu.Lock()
	all, left := u.ahead.locks[name].seal()
	u.mu.Unlock()
	if left <= 0 {
		return
	}
	late := time.NewTimer(left)
	defer late.Stop()
	for _, none := range all {
		select {
		case <-none:
		case <-late.C:
			return
		case <-ctx.Done():
			return
		case <-u.client.closing.Done():
			return
		}
	}
}
