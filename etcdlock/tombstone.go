package etcdlock

import (
	"context"
	"errors"
	"slices"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// maxOps is how much goes into one transaction; etcd's own bound is 128 unless told otherwise.
const maxOps = 100

// An ending is a transaction that takes a claim out of the queue and leaves a tombstone. When the claim is not
// there, it does something else.
type ending struct {
	there     *pb.Compare
	remove    *pb.RequestOp
	tombstone string                                 // the key of the tombstone
	note      tombstone                              // what it says
	ttl       time.Duration                          // for how long it stays at least
	ours      *claim                                 // whose end it is, if this client keeps it
	otherwise func(clientv3.LeaseID) []*pb.RequestOp // is given the lease of the tombstone
}

// finish brings an end about. A store that is full takes no tombstone, but it lets go of what it has: then the
// claim goes without one, rather than stay until there is room. A claim that is not there cannot be barred then,
// which is an error.
//
// again is as that of ask.
func (d *Driver) finish(ctx context.Context, e ending) (answer *pb.TxnResponse, again bool, err error) {
	// Before the end, because a tombstone that is there already stays on its lease, which nobody extends afterwards.
	if err := e.ours.keepNote(ctx); err != nil {
		return nil, false, err
	}
	for {
		l, err := d.noteLease(ctx, e.ttl)
		if err != nil {
			return d.finishBare(ctx, e, err)
		}
		changes := []*pb.RequestOp{e.remove, d.putTombstone(e.tombstone, l.id, e.note)}
		answer, repeated, err := d.commit(ctx, []*pb.Compare{e.there}, changes, e.otherwise(l.id))
		again = again || repeated
		switch {
		case l.refuses(ctx, err):
		case errors.Is(err, rpctypes.ErrNoSpace):
			answer, repeated, err := d.finishBare(ctx, e, err)
			return answer, again || repeated, err
		default:
			return answer, again, err
		}
	}
}

// finishBare is finish without a tombstone, where that is refused because the store is full.
func (d *Driver) finishBare(ctx context.Context, e ending, refusal error) (*pb.TxnResponse, bool, error) {
	if !errors.Is(refusal, rpctypes.ErrNoSpace) {
		return nil, false, refusal
	}
	all := e.otherwise(clientv3.NoLease)
	changes := func(op *pb.RequestOp) bool { return op.GetRequestRange() == nil }
	questions := slices.DeleteFunc(slices.Clone(all), changes)
	answer, again, err := d.commit(ctx, []*pb.Compare{e.there}, []*pb.RequestOp{e.remove}, questions)
	if err == nil && !answer.Succeeded && len(questions) < len(all) {
		return nil, again, refusal
	}
	return answer, again, err
}

// putTombstone is the part of the transaction that leaves a tombstone. Where there is one already, it stays on its
// lease, which may live longer.
func (d *Driver) putTombstone(key string, lease clientv3.LeaseID, t tombstone) *pb.RequestOp {
	t.Format = d.format
	note := encode(t)
	return nestedOp(
		[]*pb.Compare{absent(key)},
		[]*pb.RequestOp{putOp(key, note, lease)},
		[]*pb.RequestOp{rewriteOp(key, note)},
	)
}

// putTombstoneAhead leaves the tombstone before the claim ends. It is part of the transaction that makes the TTL
// shorter: a late copy of a request that names the longer one may arrive that much later, also when this process
// is gone. Nobody reads the tombstone while the claim is there.
func (e *claim) putTombstoneAhead(l *lease) *pb.RequestOp {
	note := tombstone{Format: e.d.format, Token: e.Token()}
	return putOp(e.tombstone, encode(note), l.id)
}

// keepNote makes a tombstone that was left ahead stay for as long as one that would be left now. Where its lease is
// gone there is none, and where that is not extended any more it stays for as long as it can.
func (e *claim) keepNote(ctx context.Context) error {
	if e == nil {
		return nil
	}
	if err := e.extendNote()(ctx); !isLeaseLost(err) && err != errLeaseDenied {
		return err
	}
	return nil
}

// extendNote begins to do so; see [lease.extend].
func (e *claim) extendNote() (await func(context.Context) error) {
	e.mu.Lock()
	notes := e.notes
	e.mu.Unlock()
	if notes == nil {
		return func(context.Context) error { return nil }
	}
	return notes.extend(e.Longest())
}

// strangersTTL stands in for the TTL of a claim whose record does not name one.
const strangersTTL = time.Minute

// lifetimeOfNote is how long the tombstone stays of a claim that another client may have requested.
func (s seat) lifetimeOfNote() time.Duration {
	if s.TTL == 0 {
		return strangersTTL
	}
	return s.ttl()
}
