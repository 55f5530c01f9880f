package etcdlock

import (
	"context"
	"errors"
	"slices"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// maxOps is how much goes into one transaction; etcd's own bound is 128 unless told otherwise.
const maxOps = 100

// An ending is a transaction that takes a claim out of the queue and notes that, or else, when the claim is not there, does
// something else.
type ending struct {
	there     clientv3.Cmp
	remove    clientv3.Op
	tomb      string                               // where the end is noted
	note      tomb                                 // what is noted
	ttl       time.Duration                        // for how long at least
	otherwise func(clientv3.LeaseID) []clientv3.Op // is given the lease of the note
}

// finish brings an end about. A store that is full takes no note, but it lets go of what it has: then the claim goes
// without one, rather than stay until there is room. What is not there can then not be barred either, which is an error.
//
// again is as that of ask.
func (d *Driver) finish(ctx context.Context, e ending) (answer *clientv3.TxnResponse, again bool, err error) {
	for {
		l, err := d.noteLease(ctx, e.ttl)
		if err != nil {
			return d.finishBare(ctx, e, err)
		}
		l.extend(e.ttl)
		answer, repeated, err := d.commit(ctx, []clientv3.Cmp{e.there}, []clientv3.Op{e.remove, d.bury(e.tomb, l.id, e.note)}, e.otherwise(l.id))
		again = again || repeated
		switch {
		case isLeaseLost(err): // that of the note: nothing was done
			l.lose()
		case errors.Is(err, rpctypes.ErrNoSpace):
			answer, repeated, err := d.finishBare(ctx, e, err)
			return answer, again || repeated, err
		default:
			return answer, again, err
		}
	}
}

// finishBare is finish without a note, where that is refused since the store is full.
func (d *Driver) finishBare(ctx context.Context, e ending, refusal error) (*clientv3.TxnResponse, bool, error) {
	if !errors.Is(refusal, rpctypes.ErrNoSpace) {
		return nil, false, refusal
	}
	all := e.otherwise(clientv3.NoLease)
	questions := slices.DeleteFunc(slices.Clone(all), func(op clientv3.Op) bool { return !op.IsGet() })
	answer, again, err := d.commit(ctx, []clientv3.Cmp{e.there}, []clientv3.Op{e.remove}, questions)
	if err == nil && !answer.Succeeded && len(questions) < len(all) {
		return nil, again, refusal
	}
	return answer, again, err
}

// bury notes an end, as part of the transaction that brings it about. Where there is a note already, that one's lease stays:
// it may live longer.
func (d *Driver) bury(key string, lease clientv3.LeaseID, t tomb) clientv3.Op {
	t.Format = d.format
	note := encode(t)
	return clientv3.OpTxn(
		[]clientv3.Cmp{absent(key)},
		[]clientv3.Op{clientv3.OpPut(key, note, clientv3.WithLease(lease))},
		[]clientv3.Op{clientv3.OpPut(key, note, clientv3.WithIgnoreLease())},
	)
}

// buryAhead notes the end of a claim before it comes, as part of the transaction that makes its TTL shorter: a late copy of a
// request that names the longer one may arrive that much later, also when this process is gone. Nobody asks for the note
// while the claim is there.
func (e *claim) buryAhead(l *lease) clientv3.Op {
	note := tomb{Format: e.d.format, Token: e.Token()}
	return clientv3.OpPut(e.tomb, encode(note), clientv3.WithLease(l.id))
}

// keepNote keeps a note of the end that came before it for as long as one that comes now.
func (e *claim) keepNote() {
	e.mu.Lock()
	notes := e.notes
	e.mu.Unlock()
	if notes != nil {
		notes.extend(e.Longest())
	}
}

// strangersTTL stands in for the TTL of a claim whose record does not tell.
const strangersTTL = time.Minute

// lifetimeOfNote is for how long the end is noted of a claim that another client may have requested.
func (s seat) lifetimeOfNote() time.Duration {
	if s.TTL == 0 {
		return strangersTTL
	}
	return s.ttl()
}
