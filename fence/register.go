package fence

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// A Register remembers the greatest token of each resource in this process's memory, and lets writes through in the
// order of their tokens. It is for resources that only this process writes, and that do not outlive it. The zero value
// is ready for use.
//
// It never forgets by itself a token that still protects a resource. It keeps nothing about resources whose only tokens
// were refused or not accepted. Keep and Max bound the rest; set them before the first use.
type Register struct {
	// Keep is how long a resource is remembered after its last use. A holder that writes with an old token after that
	// is not refused, so make it longer than a process can be paused, such as some days. Zero: as long as this process
	// lives, or until Forget.
	Keep time.Duration

	// Max is how many resources are remembered: [DefaultMax] if zero, and without a bound if negative. Beyond that a
	// new resource is refused with ErrFull: a late holder could write to a resource that was forgotten to make room.
	Max int

	mu    sync.Mutex
	seen  map[string]*mark
	since time.Time // of the last sweep
	news  int       // resources that came since
}

// DefaultMax is how many resources a [Register] remembers unless its Max says otherwise.
const DefaultMax = 1 << 20

// ErrFull says that a [Register] refused a new resource, because it remembers as many as it may. Nothing was written.
var ErrFull = errors.New("too many resources are remembered")

// A mark is what is known of one resource. It is guarded by the register's mutex.
type mark struct {
	token uint64        // the greatest that was accepted
	used  time.Time     // when the last visit ended
	users int           // visits that write, or wait for their turn
	turn  chan struct{} // has room for the visit that may write; nil without users
}

// A visit is one write, or what may become one. While it lasts nobody else writes to the resource.
type visit struct {
	register *Register
	resource string
	mark     *mark
	token    uint64
	over     bool   // guarded by the register's mutex
	around   *visit // of a Handler around this one's, for the same request
}

// Do calls write. If a greater token was seen, it does not, and its error matches [ErrStale]; if there are too many
// resources, its error matches [ErrFull]. While write runs, no other write to the resource does. A token counts as seen
// even if write fails.
func (r *Register) Do(resource string, token uint64, write func() error) error {
	v, err := r.enter(context.Background(), resource, token)
	if err != nil {
		return err
	}
	defer v.leave()
	if err := v.accept(); err != nil {
		return err
	}
	return write()
}

// Seen returns the greatest token of a resource, or 0.
func (r *Register) Seen(resource string) uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if m := r.seen[resource]; m != nil {
		return m.token
	}
	return 0
}

// Len returns how many resources are remembered.
func (r *Register) Len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.seen)
}

// Forget forgets a resource; afterwards any token is accepted for it. Call it when the resource is gone, or when no
// holder with an older token can be left.
func (r *Register) Forget(resource string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if m := r.seen[resource]; m != nil {
		m.token = 0
		r.tidy(resource, m)
	}
}

// enter waits for its turn to write to a resource. The token does not count as seen unless the visit accepts it.
func (r *Register) enter(ctx context.Context, resource string, token uint64) (*visit, error) {
	if err := Check(token); err != nil {
		return nil, err
	}
	v := &visit{register: r, resource: resource, token: token}
	if err := v.join(); err != nil {
		return nil, err
	}
	select {
	case v.mark.turn <- struct{}{}:
	case <-ctx.Done():
		v.part()
		return nil, context.Cause(ctx)
	}
	if err := v.check(); err != nil { // which may have become stale meanwhile
		v.leave()
		return nil, err
	}
	return v, nil
}

// join makes the visit one of the resource's users, unless its token is stale already.
func (v *visit) join() error {
	r := v.register
	r.mu.Lock()
	defer r.mu.Unlock()
	m := r.seen[v.resource]
	switch {
	case m == nil && !r.hasRoom():
		return fmt.Errorf("%w: %d; forget those that are gone, or raise Max", ErrFull, len(r.seen))
	case m == nil:
		m = new(mark)
		r.seen[v.resource] = m
	case v.token < m.token:
		return Stale(v.resource, v.token, m.token)
	}
	if m.turn == nil {
		m.turn = make(chan struct{}, 1)
	}
	m.users++
	v.mark = m
	return nil
}

func (v *visit) check() error {
	v.register.mu.Lock()
	defer v.register.mu.Unlock()
	return v.stale()
}

// stale returns the error for a token that is smaller than the greatest. The register's mutex is held.
func (v *visit) stale() error {
	if v.token < v.mark.token {
		return Stale(v.resource, v.token, v.mark.token)
	}
	return nil
}

// accept makes the token count as seen.
func (v *visit) accept() error {
	v.register.mu.Lock()
	defer v.register.mu.Unlock()
	if v.over {
		return errors.New("the request is over, and others may write by now; accept its token before it ends")
	}
	if err := v.stale(); err != nil {
		return err
	}
	v.mark.token = v.token
	return nil
}

// leave ends the visit, and lets the next one write.
func (v *visit) leave() {
	<-v.mark.turn
	v.part()
}

func (v *visit) part() {
	r := v.register
	r.mu.Lock()
	defer r.mu.Unlock()
	v.over = true
	v.mark.users--
	v.mark.used = time.Now()
	r.tidy(v.resource, v.mark)
}

// tidy drops what a resource does not need any more. r.mu is held.
func (r *Register) tidy(resource string, m *mark) {
	if m.users > 0 {
		return
	}
	m.turn = nil
	if m.token == 0 {
		delete(r.seen, resource)
	}
}

// hasRoom reports whether one more resource may be remembered. r.mu is held.
func (r *Register) hasRoom() bool {
	if r.seen == nil {
		r.seen = make(map[string]*mark)
	}
	r.news++
	r.sweep()
	most := cmp.Or(r.Max, DefaultMax)
	return most < 0 || len(r.seen) < most
}

// Bounds of sweeping: as many resources must have come since the last time, or this part of Keep must have passed. So
// it costs each that comes little.
const (
	leastNews   = 64
	partsOfKeep = 8
)

// sweep drops the resources that nobody has used for Keep. r.mu is held.
func (r *Register) sweep() {
	now := time.Now()
	if r.Keep <= 0 || r.news < max(leastNews, len(r.seen)) && now.Sub(r.since) < r.Keep/partsOfKeep {
		return
	}
	r.news, r.since = 0, now
	for resource, m := range r.seen {
		if m.users == 0 && now.Sub(m.used) > r.Keep {
			delete(r.seen, resource)
		}
	}
}
