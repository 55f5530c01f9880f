package etcdlock

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/leased"
)

// leaseSlack is what a lease lives longer than its claims, so that one keep-alive serves all requests of this time.
const leaseSlack = time.Second

// leaseTime is the TTL of the lease for claims of this TTL, in seconds. etcd knows no fractions.
func leaseTime(ttl time.Duration) int64 { return wholeSeconds(ttl + leaseSlack) }

func wholeSeconds(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }

var errLeaseLost = errors.New("the lease is gone")

// errLeaseDenied means that the server does not extend a lease, and lets nothing be attached to it, because the user no
// longer has the right to something that it keeps: https://etcd.io/docs/v3.6/op-guide/authentication/rbac/. What the
// user has the right to moves to another one.
var errLeaseDenied = errors.New("the lease keeps what the user has no right to")

// A lease is what the claims of one TTL are attached to: when this process is gone, they end with it. It is
// extended when a claim is requested or renewed, and kept alive a while longer, for the next claim. Others are for
// notes of ends: see [Driver.noteLease].
type lease struct {
	d       *Driver
	id      clientv3.LeaseID
	seconds int64
	lost    chan struct{} // closed when the server has dropped the lease, or must be thought to have
	own     bool          // of one claim that was left alone: only requests for that one extend it
	places  places

	mu     sync.Mutex
	full   bool           // it is not kept alive any more
	denied bool           // see errLeaseDenied
	ttl    time.Duration  // what the server granted
	until  leased.Instant // it lives at least until then: counted from before the request that was answered last
	used   leased.Instant
	flight *flight // the newest keep-alive, under way or not
}

// A flight is a keep-alive under way.
type flight struct {
	sent   leased.Instant
	landed chan struct{} // closed when err is valid
	err    error
}

// leaseFor returns the lease for claims of this TTL. The first call for a TTL takes a round trip.
func (d *Driver) leaseFor(ctx context.Context, ttl time.Duration) (*lease, error) {
	return d.slot(leaseTime(ttl)).Await(ctx)
}

// leaseOf returns the lease to attach a claim to. One that is left alone has its own, which ends with its TTL,
// whatever else this process holds, and for how long.
func (d *Driver) leaseOf(ctx context.Context, c driver.Claim) (*lease, error) {
	if !c.Detached {
		return d.leaseFor(ctx, c.TTL)
	}
	l, err := d.grant(ctx, wholeSeconds(c.TTL))
	if err == nil {
		l.own = true
	}
	return l, err
}

// serves reports whether a claim may be attached to this lease, for the TTL and in the state that it has now.
func (l *lease) serves(c driver.Claim) bool {
	if l.own {
		return c.Detached && l.seconds == wholeSeconds(c.TTL)
	}
	return !c.Detached && l.seconds == leaseTime(c.TTL) && !l.isDenied()
}

// A slot is a place for a lease that is granted or about to be.
type slot = leased.Slot[*lease]

func (d *Driver) slot(seconds int64) *slot {
	d.mu.Lock()
	defer d.mu.Unlock()
	if s := d.slots[seconds]; s != nil && s.IsUsable() {
		return s
	}
	d.slots[seconds] = d.newSlot(seconds)
	return d.slots[seconds]
}

// newSlot begins to grant a lease.
func (d *Driver) newSlot(seconds int64) *slot {
	s := leased.NewSlot[*lease]()
	d.running.Go(func() { d.fill(s, seconds) })
	return s
}

// fill grants the lease and begins to keep it. When it has ended, nothing stays of it.
func (d *Driver) fill(s *slot, seconds int64) {
	ctx, cancel := context.WithTimeout(d.lifetime, time.Duration(seconds)*time.Second)
	defer cancel()
	l, err := d.grant(ctx, seconds)
	s.Fill(l, err)
	d.running.Go(func() {
		if err == nil {
			l.keep()
		}
		d.drop(s, seconds)
	})
}

// drop forgets a slot whose lease has ended, or was not granted.
func (d *Driver) drop(s *slot, seconds int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.slots[seconds] == s {
		delete(d.slots, seconds)
	}
	if shelf := d.shelves[seconds]; shelf != nil && !shelf.isUsable() {
		delete(d.shelves, seconds)
	}
}

func (d *Driver) grant(ctx context.Context, seconds int64) (*lease, error) {
	sent := leased.Now()
	granted, err := d.grantLease(ctx, seconds)
	if err != nil {
		return nil, explain(err)
	}
	ttl := time.Duration(granted.TTL) * time.Second
	return &lease{
		d: d, id: granted.ID, seconds: seconds, lost: make(chan struct{}),
		ttl: ttl, until: sent.Add(ttl), used: sent,
	}, nil
}

// grantLease grants a lease. Where a member was asked in vain, there may be another one, which ends by itself.
func (d *Driver) grantLease(ctx context.Context, seconds int64) (*clientv3.LeaseGrantResponse, error) {
	granted, _, err := ask(ctx, d, func(ctx context.Context, m *member) (*clientv3.LeaseGrantResponse, error) {
		return m.lease.Grant(ctx, seconds)
	})
	return granted, err
}

func (d *Driver) revokeLease(ctx context.Context, id clientv3.LeaseID) error {
	_, _, err := ask(ctx, d, func(ctx context.Context, m *member) (*clientv3.LeaseRevokeResponse, error) {
		return m.lease.Revoke(ctx, id)
	})
	return err
}

// IsAlive reports whether the server is known to have the lease still, and extends it.
func (l *lease) IsAlive() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.isLost() && !l.denied && leased.Now() < l.until
}

// left is for how long the server is known to have the lease.
func (l *lease) left() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.until.Sub(leased.Now())
}

func (l *lease) isDenied() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.denied
}

// denies reports whether err, which is about something that was to be attached to the lease, is about something else
// that the lease keeps. It asks the server.
func (l *lease) denies(ctx context.Context, err error) bool {
	if !errors.Is(err, rpctypes.ErrPermissionDenied) || l.own {
		return false
	}
	_ = l.touch(ctx) // notes it
	return l.isDenied()
}

// refuses reports whether err, which is about something that was to be attached to this lease alone, says that the
// lease takes nothing any more, and notes that. Then nothing was done, and another lease has to be used.
func (l *lease) refuses(ctx context.Context, err error) bool {
	if isLeaseLost(err) {
		l.lose()
		return true
	}
	return l.denies(ctx, err)
}

func (l *lease) isLost() bool { return leased.IsClosed(l.lost) }

// extend begins to make the lease live for ttl from now on, unless it does. The function that it returns waits for
// that: so it goes along with the request that needs it.
func (l *lease) extend(ttl time.Duration) (await func(context.Context) error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := leased.Now()
	l.used = t
	switch {
	case l.isLost():
		return func(context.Context) error { return errLeaseLost }
	case l.denied:
		return func(context.Context) error { return errLeaseDenied }
	case l.until.Sub(t) >= ttl:
		return func(context.Context) error { return nil }
	case l.flight == nil || l.flight.over() || l.flight.sent.Add(l.ttl).Sub(t) < ttl:
		l.launch(t)
	}
	return l.flight.await
}

// extendFor is extend for a claim. A request that was sent before the claim was left alone extends nothing.
func (l *lease) extendFor(c driver.Claim) (await func(context.Context) error) {
	if l.own && !c.Detached {
		return func(context.Context) error { return nil }
	}
	return l.extend(c.TTL)
}

// launch sends a keep-alive. l.mu is held.
func (l *lease) launch(sent leased.Instant) {
	f := &flight{sent: sent, landed: make(chan struct{})}
	l.flight = f
	l.d.running.Go(func() {
		defer close(f.landed)
		f.err = l.keepAlive(f.sent)
	})
}

func (f *flight) over() bool { return leased.IsClosed(f.landed) }

// await returns how the keep-alive ended, also where ctx has ended by now: one after the other is waited for.
func (f *flight) await(ctx context.Context) error {
	if f.over() {
		return f.err
	}
	select {
	case <-f.landed:
		return f.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// attemptPart is the part of a lease's time after which a keep-alive is given up and sent anew.
const attemptPart = 4

func (l *lease) keepAlive(sent leased.Instant) error {
	ctx, cancel := context.WithTimeout(l.d.lifetime, l.ttl/attemptPart)
	defer cancel()
	extend := func(ctx context.Context, m *member) (int64, error) { return m.keepAlive(ctx, l.id) }
	left, _, err := ask(ctx, l.d, extend)
	if l.d.tokens.forget(err) {
		left, _, err = ask(ctx, l.d, extend)
	}
	switch {
	case errors.Is(err, rpctypes.ErrLeaseNotFound):
		l.lose()
		return errLeaseLost
	case errors.Is(err, rpctypes.ErrPermissionDenied) && !l.own:
		l.deny()
		return errLeaseDenied
	case err != nil:
		return explain(err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.until = max(l.until, sent.Add(time.Duration(left)*time.Second))
	return nil
}

func (l *lease) deny() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.denied = true
}

// lose notes that the lease is gone. The claims that were attached to it are too.
func (l *lease) lose() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.loseNow()
}

// loseNow is lose for who holds l.mu.
func (l *lease) loseNow() {
	if !l.isLost() {
		close(l.lost)
	}
}

// Parts of a lease's time.
const (
	keepPart  = 3  // between two keep-alives
	retryPart = 12 // between a failed one and the next
	idleTimes = 2  // kept this many times its time after its last use: for the next claim, and for tombstones
)

// keep keeps the lease alive until it is lost, or nothing used it for a while. It ends with the driver.
func (l *lease) keep() {
	pause := l.ttl / keepPart
	timer := time.NewTimer(pause)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-l.lost:
			return
		case <-l.d.lifetime.Done():
			return
		}
		if pause = l.tend(); pause < 0 {
			return
		}
		timer.Reset(pause)
	}
}

// tend does what is due, and returns when to look again; less than zero when the lease has ended.
func (l *lease) tend() time.Duration {
	switch {
	case l.isFull():
		return -1
	case l.isDenied(): // it ends by itself
		left := l.left()
		if left <= 0 {
			l.lose()
		}
		return left - 1
	case l.loseIdle(): // nothing is attached to it but notes that have served
		return -1
	}
	if err := l.touch(l.d.lifetime); err != nil {
		if !l.isDenied() && !l.IsAlive() {
			l.abandon()
			return -1
		}
		return max(l.ttl/retryPart, 100*time.Millisecond)
	}
	return l.ttl / keepPart
}

// touch sends a keep-alive, without counting as use.
func (l *lease) touch(ctx context.Context) error {
	l.mu.Lock()
	l.launch(leased.Now())
	f := l.flight
	l.mu.Unlock()
	return f.await(ctx)
}

// check notes whether the lease is gone. It asks the server.
func (l *lease) check(ctx context.Context) {
	if l != nil {
		_ = l.touch(ctx) // which notes it
	}
}

// loseIdle gives a lease up that was not used for long, and reports whether it did. It does so in one step with the
// look, so that nobody begins to use it in between.
func (l *lease) loseIdle() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	idle := leased.Now().Sub(l.used) > idleTimes*l.ttl
	if idle {
		l.loseNow()
	}
	return idle
}

// abandon gives up a lease that could not be kept alive. Its claims are lost by now, so it is revoked as soon as
// the server can be reached: others need not wait for its end.
func (l *lease) abandon() {
	l.lose() // first: those who wait here know before the server lets others in
	ctx, cancel := context.WithTimeout(l.d.lifetime, l.ttl)
	defer cancel()
	for ctx.Err() == nil {
		err := l.d.revokeLease(ctx, l.id)
		if err == nil || errors.Is(err, rpctypes.ErrLeaseNotFound) {
			return
		}
		pause(ctx)
	}
}
