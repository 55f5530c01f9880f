package etcdlock

import (
	"context"
	"errors"
	"slices"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/leased"
)

// adopt renews a claim that another client requested, and keeps it from then on.
func (d *Driver) adopt(ctx context.Context, c driver.Claim) (driver.Status, error) {
	s, err := d.find(ctx, c)
	if err != nil {
		return driver.Status{}, err
	}
	return d.keep(ctx, c, s)
}

// keep notes a claim that was found, and renews it.
func (d *Driver) keep(ctx context.Context, c driver.Claim, s seat) (driver.Status, error) {
	l, err := d.leaseOf(ctx, c)
	if err != nil {
		return driver.Status{}, err
	}
	e := d.enter(c, s.key, s.token, l)
	e.Answered(s.token)
	return d.renew(ctx, e, c)
}

// find looks for a claim in the queue. The error is ErrGone when it is not there, or not under its token.
func (d *Driver) find(ctx context.Context, c driver.Claim) (seat, error) {
	answer, err := d.get(ctx, d.findRange(c))
	if err != nil {
		return seat{}, explain(err)
	}
	s, ok := d.pick(answer.Kvs, c)
	if !ok {
		return seat{}, driver.ErrGone
	}
	return s, nil
}

// findRange reads what is in the queue, or what is there under the token of the claim: the revision that made its key.
func (d *Driver) findRange(c driver.Claim) *pb.RangeRequest {
	queue, token := d.keys.queue(c.Name), int64(c.Token)
	return &pb.RangeRequest{
		Key: []byte(queue), RangeEnd: endOf(queue), MinCreateRevision: token, MaxCreateRevision: token,
	}
}

// pick returns the claim with this ID from what findRange read, whichever client made it, or that of the peer with this
// lease.
func (d *Driver) pick(kvs []*mvccpb.KeyValue, c driver.Claim) (s seat, ok bool) {
	queue := d.keys.queue(c.Name)
	for _, kv := range kvs {
		if s, ok := d.anySeat(queue, kv); ok && s.ID == c.ID && (c.Token == 0 || c.Token == s.token) {
			return s, true
		}
	}
	return s, false
}

// errNewLeaseLost says nothing about the claim: that is where it was.
var errNewLeaseLost = errors.New("the lease ended before a claim was attached to it; ask again")

// errLeftAlone says that a claim stays as it is, because it was left alone after the request was sent.
var errLeftAlone = errors.New("the claim was left alone")

// attach moves a claim to the lease for the TTL that a renewal names, because the TTL has changed or the claim was
// another client's.
func (d *Driver) attach(ctx context.Context, e *claim, own seat, c driver.Claim) error {
	if own.Detached && !c.Detached {
		return errLeftAlone
	}
	l := e.leased()
	if !l.serves(c) || !l.own || l.isLost() {
		var err error
		if l, err = d.leaseOf(ctx, c); err != nil {
			return err
		}
	}
	notes, err := d.notesFor(ctx, e, own, c)
	if err != nil {
		return err
	}
	isNew := !l.own && e.attaching(l)
	for done := false; !done; {
		if err := e.mayLiveOn(ctx, l, c.TTL); err != nil {
			return err
		}
		done, err = d.attachOnce(ctx, e, &own, l, notes, c)
		if isNew && isRefusal(err) {
			e.notAttaching(l)
		}
		if l.denies(ctx, err) || notes != nil && notes.denies(ctx, err) {
			return errNewLeaseLost
		}
		if isLeaseLost(err) {
			l.check(ctx)
			notes.check(ctx)
			return errNewLeaseLost
		}
		if err != nil {
			return err
		}
	}
	e.attached(l, notes)
	return nil
}

// mayLiveOn makes the claim live for a TTL from now on at least, here and on the lease that it may be moved to,
// before a request that moves it is sent. The client that kept it may have promised as much until then, and once
// the claim is there it ends when this client says so, also where the request is not answered.
func (e *claim) mayLiveOn(ctx context.Context, l *lease, ttl time.Duration) error {
	now := leased.Now()
	switch err := l.extend(ttl)(ctx); {
	case isLeaseLost(err), err == errLeaseDenied:
		return errNewLeaseLost
	case err != nil:
		return err
	case !e.MayLive(ttl, now):
		return driver.ErrGone
	}
	return nil
}

// notesFor returns the lease of the tombstone for a claim whose TTL becomes shorter: it lives for as long as a
// request with the longer TTL may be late. nil when the TTL does not become shorter.
func (d *Driver) notesFor(ctx context.Context, e *claim, own seat, c driver.Claim) (*lease, error) {
	longest := e.HadTTL(time.Duration(own.TTL) * time.Millisecond)
	if longest <= c.TTL {
		return nil, nil
	}
	return d.noteLease(ctx, longest)
}

// attachOnce moves the claim, unless its record has changed after it was read; then it reads the record again.
func (d *Driver) attachOnce(ctx context.Context, e *claim, own *seat, l, notes *lease, c driver.Claim) (bool, error) {
	own.TTL, own.Format, own.Detached = driver.Milliseconds(c.TTL), d.format, c.Detached
	changes := []*pb.RequestOp{putOp(own.key, encode(own.record), l.id)}
	if notes != nil {
		changes = append(changes, e.putTombstoneAhead(notes))
	}
	asRead := []*pb.Compare{unchanged(own.key, own.mod)}
	answer, _, err := d.commit(ctx, asRead, changes, []*pb.RequestOp{getOp(own.key)})
	if err != nil || answer.Succeeded {
		return err == nil, explain(err)
	}
	seats, err := d.seats(e.queue, answer.Responses[0].GetResponseRange().Kvs)
	switch {
	case err != nil:
		return false, err
	case len(seats) == 0 || seats[0].token != own.token:
		return false, driver.ErrGone
	}
	if *own = seats[0]; own.Detached && !c.Detached {
		return false, errLeftAlone
	}
	return false, nil
}

// isRefusal reports whether an error of attachOnce says that the claim was not moved.
func isRefusal(err error) bool {
	return err != nil && !isDone(err) && (driver.IsAnswer(err) || isLeaseLost(err) || err == errLeftAlone)
}

// attaching notes that the claim may be moved to this lease, and reports whether that was not so before.
func (e *claim) attaching(l *lease) (isNew bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	isNew = l != e.lease && !slices.Contains(e.others, l)
	if isNew {
		e.others = append(e.others, l)
	}
	return isNew
}

// notAttaching notes that it was not.
func (e *claim) notAttaching(l *lease) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.others = slices.DeleteFunc(e.others, func(o *lease) bool { return o == l })
}

// attached notes the lease of the claim, and that of its tombstone if there is one.
func (e *claim) attached(l, notes *lease) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.lease, e.others = l, nil
	if notes != nil {
		e.notes = notes
	}
}
