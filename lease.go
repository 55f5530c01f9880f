package holdfast

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// A grant is a period in which one owner has a lock: several leases when it is counted. It ends once, for all of them.
type grant struct {
	hold  *hold
	lock  *lock
	ask   ask
	token uint64

	mu     sync.Mutex
	err    error       // why it ended
	leases []*Lease    // those not released
	limit  *time.Timer // of WithMaxHold
	ending *ending     // by Close; nil unless that ended it

	first Lease // most have one lease only: it is here, and so is the room for the list of it
	room  [1]*Lease
}

// A Lease is a lock that is held. It is renewed until it is released or lost.
type Lease struct {
	grant *grant
	from  context.Context // the acquiring context, or what the observer made of it
	leave func(Event)     // ends what the observer made of it; nil when that is nothing
	outer *Lease          // the one that this context held already; see again
	mode  mode            // of an inner lease
	start time.Time

	once   sync.Once // Release
	result error     // of Release

	// Guarded by grant.mu.
	released  bool
	ctx       *leaseContext // made when first asked for
	followers []*follower   // who end with it
}

// lease returns one more lease on the grant; nil when there were some, and all of them are over. The first of a grant
// that was lost before is lost from the beginning.
func (g *grant) lease(ctx context.Context, leave func(Event)) *Lease {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.leaseLocked(ctx, leave)
}

func (g *grant) leaseLocked(ctx context.Context, leave func(Event)) *Lease {
	l := &g.first
	switch {
	case l.grant == nil:
		g.leases = g.room[:0]
	case g.err != nil || len(g.leases) == 0:
		return nil
	default:
		l = new(Lease)
	}
	l.grant, l.from, l.leave, l.start = g, ctx, leave, time.Now()
	switch {
	case g.ending != nil:
		g.ending.join(l)
	case g.err != nil:
		l.tell(OpLose, g.err)
	default:
		g.leases = append(g.leases, l)
	}
	return l
}

// Name returns the name of the lock.
func (l *Lease) Name() string { return l.grant.lock.name }

// Token returns the fencing token: greater than that of every earlier holder of this name. Send it with each write, so
// that the resource can refuse writes with a smaller one. It fits a signed 64-bit column; outside Go write it as a
// decimal string, because it exceeds 2^53.
func (l *Lease) Token() uint64 { return l.grant.token }

func (l *Lease) tokenOrZero() uint64 {
	if l == nil {
		return 0
	}
	return l.Token()
}

// Err returns nil while the lock is held, then ErrReleased or a *LostError. It looks at the deadline itself, so it is
// right even in the first instruction after a pause. A backend that can tell of a loss at once does so from a moment
// after the first call on, as it does for Done and Context.
func (l *Lease) Err() error {
	err := l.over()
	if err == nil {
		l.grant.hold.watch()
	}
	return err
}

// over is Err for callers that do not want to be told of a loss at once.
func (l *Lease) over() error {
	if err := l.ended(); err != nil {
		return err
	}
	if l.grant.hold.valid() {
		return nil
	}
	h := l.grant.hold
	why := h.whyExpired()
	l.grant.lose(LostExpired, why)
	h.lose(LostExpired, why)
	return l.ended()
}

// RenewalErr returns why the last renewal of the lease failed, in the words of the backend if it has answered, and nil
// once a renewal has succeeded. A lease outlasts failures: it is renewed again and again, and ends at
// [Lease.ValidUntil] if none succeeds before; then this error is the Err of its *LostError. It is for messages that say
// why a lease is about to end.
func (l *Lease) RenewalErr() error {
	h := l.grant.hold
	return h.lock.client.keeper.renewalError(&h.tracked)
}

func (l *Lease) ended() error {
	l.grant.mu.Lock()
	defer l.grant.mu.Unlock()
	return l.endedLocked()
}

func (l *Lease) endedLocked() error {
	if l.released && l.grant.err == nil {
		return ErrReleased
	}
	return l.grant.err
}

// ValidUntil returns the time at which the lease ends unless it is renewed before.
func (l *Lease) ValidUntil() time.Time { return l.grant.hold.validUntil().time() }

// Release releases the lock. It works even if ctx is done. It may be called again, and then returns the first result.
// nil says that the lock was ours until now, and a *LostError that it was not: what it protected may have overlapped
// with another holder's work. ErrUnknown says that the backend did not answer; then the claim is released in the
// background, or ends with its TTL.
func (l *Lease) Release(ctx context.Context) error {
	l.once.Do(func() {
		l.result = errPanicked
		l.result = l.release(ctx)
	})
	return l.result
}

// errPanicked stays the result of a release in which the driver panicked.
var errPanicked = fmt.Errorf("%w: the driver panicked; the TTL ends the lock at the latest", ErrUnknown)

func (l *Lease) release(ctx context.Context) error {
	g := l.grant
	g.lock.client.background.enter() // Close waits for it
	defer g.lock.client.background.leave()
	if err := l.over(); err != nil && !errors.Is(err, ErrReleased) {
		return err
	}
	last, err := g.giveUp(l)
	l.followed()
	switch {
	case errors.Is(err, ErrReleased):
		return g.surrendered(ctx)
	case err != nil:
		return err
	}
	finished := false
	defer func() {
		if !finished { // the driver panicked
			l.tell(OpRelease, errPanicked)
		}
	}()
	later := false
	if last {
		later, err = g.hold.finish(ctx, l)
	}
	if finished = true; !later {
		l.observeRelease(ctx, err)
	}
	return err
}

// giveUp ends one lease, and the grant with the last one. An error says that the lease was over before.
func (g *grant) giveUp(l *Lease) (last bool, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := l.endedLocked(); err != nil {
		return false, err
	}
	l.released = true
	if l.ctx != nil {
		l.ctx.end(ErrReleased)
	}
	g.leases = slices.DeleteFunc(g.leases, func(other *Lease) bool { return other == l })
	if len(g.leases) > 0 {
		return false, nil
	}
	_, last = g.endLocked(ErrReleased)
	return last, nil
}

// observeRelease tells of the lease's release in the goroutine that released it; tell, whoever ended the lease.
func (l *Lease) observeRelease(ctx context.Context, err error) {
	if o := l.grant.lock.settings.observer; o != nil {
		l.tellObserver(ctx, o, l.event(OpRelease, err))
	}
}

func (l *Lease) tell(op Op, err error) {
	o := l.grant.lock.settings.observer
	if o == nil {
		return
	}
	e := l.event(op, err)
	c := l.grant.lock.client
	c.events.add(func(missed int) {
		e.Missed = missed
		l.tellObserver(context.Background(), o, e)
	}, func(caught *crash) { c.survive(caught) })
}

func (l *Lease) tellObserver(ctx context.Context, o Observer, e Event) {
	if l.leave != nil {
		defer l.leave(e) // also when the observer panics
	}
	o.Observe(ctx, e)
}

func (l *Lease) event(op Op, err error) Event {
	g := l.grant
	return g.lock.event(op, g.ask, g.token, l.start, err)
}

// surrendered is the result of a release after Close has given the lock back, if it did.
func (g *grant) surrendered(ctx context.Context) error {
	g.mu.Lock()
	e := g.ending
	g.mu.Unlock()
	if e == nil {
		return nil
	}
	ctx, cancel := g.hold.untilGivenBack(ctx)
	defer cancel()
	if closesWithin(ctx, e.known) {
		return e.result
	}
	return g.lock.failure("release", ErrUnknown, context.Cause(ctx),
		errors.New("the client is being closed, and releases it"))
}

// conclude releases the lease at the end of what was done under it. An error that matches ErrClosed says that Close had
// given the lock back before that.
func (l *Lease) conclude(ctx context.Context) error {
	g := l.grant
	g.mu.Lock()
	closed := g.ending != nil
	g.mu.Unlock()
	err := l.Release(ctx)
	if err == nil && closed {
		return g.lock.failure("lock", ErrClosed, errors.New("it was released before the work under it had ended"))
	}
	return err
}

// endBy is end where Close gives the lock back.
func (g *grant) endBy(e *ending) (ok bool) {
	g.mu.Lock()
	if e.leases, ok = g.endLocked(ErrReleased); ok {
		g.ending = e
	}
	g.mu.Unlock()
	followed(e.leases)
	return ok
}

// end ends the grant and all its leases, once. It returns those that ended with it.
func (g *grant) end(err error) (leases []*Lease, ok bool) {
	g.mu.Lock()
	leases, ok = g.endLocked(err)
	g.mu.Unlock()
	followed(leases)
	return leases, ok
}

func (g *grant) endLocked(err error) (leases []*Lease, ok bool) {
	if g.err != nil {
		return nil, false
	}
	g.err = err
	if g.limit != nil {
		g.limit.Stop()
	}
	leases, g.leases = g.leases, nil
	for _, l := range leases {
		if l.ctx != nil {
			l.ctx.end(err)
		}
	}
	return leases, true
}

// lose ends the grant as lost, and tells; false when it had ended before.
func (g *grant) lose(reason LostReason, err error) (ended bool) {
	lost := g.lost(reason, err)
	leases, ended := g.end(lost)
	if !ended {
		return false
	}
	c, s := g.lock.client, g.lock.settings
	c.warn(s.logger, "holdfast: lock lost", "lock", g.lock.name, "backend", c.label,
		"token", g.token, "reason", reason.String(), "error", err)
	for _, l := range leases {
		l.tell(OpLose, lost)
	}
	return true
}

func (g *grant) lost(reason LostReason, err error) error {
	return &LostError{Name: g.lock.name, Token: g.token, Reason: reason, Err: err}
}

// limitTo bounds how long the grant may last, where d is not zero.
func (g *grant) limitTo(d time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if d > 0 && g.err == nil {
		g.limit = time.AfterFunc(d, g.overstay)
	}
}

// overstay ends a grant that has lasted for as long as WithMaxHold allows.
func (g *grant) overstay() {
	if g.lose(LostMaxHold, nil) {
		g.hold.passOn()
	}
}
