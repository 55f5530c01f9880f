package etcdlock

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// tombs are the notes of ends that are attached to a lease, to be deleted when they have served; oldest first.
type tombs struct {
	mu  sync.Mutex
	due []due
}

type due struct {
	key  string
	when instant
}

// tombGrace is added to the TTL for which the end of a claim is remembered.
const tombGrace = time.Second

func (t *tombs) add(key string, ttl time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.due = append(t.due, due{key, now().add(ttl + tombGrace)})
}

// take returns keys whose time has come, at most as many as fit in a transaction.
func (t *tombs) take() (keys []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(t.due) > 0 && len(keys) < maxOps && t.due[0].when <= now() {
		keys = append(keys, t.due[0].key)
		t.due = t.due[1:]
	}
	return keys
}

// maxOps is how much goes into one transaction; etcd's own bound is 128 unless told otherwise.
const maxOps = 100

// sweep deletes notes that have served. What it fails to delete ends with the lease.
func (d *Driver) sweep(l *lease) {
	for {
		keys := l.tombs.take()
		if len(keys) == 0 {
			return
		}
		ops := make([]clientv3.Op, len(keys))
		for i, key := range keys {
			ops[i] = clientv3.OpDelete(key)
		}
		ctx, cancel := context.WithTimeout(d.lifetime, l.ttl)
		_, _, err := d.commit(ctx, nil, ops, nil)
		cancel()
		if err != nil {
			return
		}
	}
}

// An ending is a transaction that takes a claim out of the queue and notes that, or else, when the claim is not there, does
// something else.
type ending struct {
	there        clientv3.Cmp
	remove, note clientv3.Op
	otherwise    []clientv3.Op
}

// finish brings an end about. A store that is full takes no note, but it lets go of what it has: then the claim goes
// without one, rather than stay until there is room. What is not there can then not be barred either, which is an error.
//
// again is as that of ask.
func (d *Driver) finish(ctx context.Context, e ending) (answer *clientv3.TxnResponse, again bool, err error) {
	there := []clientv3.Cmp{e.there}
	answer, again, err = d.commit(ctx, there, []clientv3.Op{e.remove, e.note}, e.otherwise)
	if !errors.Is(err, rpctypes.ErrNoSpace) {
		return answer, again, err
	}
	questions := slices.DeleteFunc(slices.Clone(e.otherwise), func(op clientv3.Op) bool { return !op.IsGet() })
	bare, againBare, bareErr := d.commit(ctx, there, []clientv3.Op{e.remove}, questions)
	if bareErr == nil && !bare.Succeeded && len(questions) < len(e.otherwise) {
		return nil, again, err
	}
	return bare, again || againBare, bareErr
}

// bury notes an end, as part of the transaction that brings it about. Where there is a note already, that one's lease stays:
// it may live longer.
func (d *Driver) bury(key string, lease clientv3.LeaseID, released bool, token uint64) clientv3.Op {
	note := encode(tomb{Format: d.format, Released: released, Token: token})
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
	note := tomb{Format: e.d.format, Token: e.tokenNow()}
	return clientv3.OpPut(e.tomb, encode(note), clientv3.WithLease(l.id))
}

// isNoted reports whether there is a note of the end before it came.
func (e *claim) isNoted() bool {
	l, _ := e.noted()
	return l != e.leased()
}

// noted returns the lease for the note of the end, and for how long it is kept.
func (e *claim) noted() (*lease, time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.notes != nil && !e.notes.isLost() {
		return e.notes, e.longest
	}
	return e.lease, e.ttl
}

// forgetLater has the note of the end deleted when no late request can come.
func (e *claim) forgetLater() {
	l, ttl := e.noted()
	l.extend(ttl)
	l.tombs.add(e.tomb, ttl)
}
