package etcdlock

import (
	"context"
	"iter"
	"slices"
	"strings"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"

	"github.com/holdfast-go/holdfast/driver"
)

// List yields the names of locks, as [driver.Lister] says.
func (d *Driver) List(ctx context.Context, prefix string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		if err := d.open(ctx); err != nil {
			yield("", err)
			return
		}
		var p passing
		for kv, err := range d.keysFrom(ctx, d.namesFrom(prefix)) {
			if err != nil {
				yield("", err)
				return
			}
			queue, name, ok := d.lockOf(kv)
			if !ok || !strings.HasPrefix(name, prefix) || !p.first(string(kv.Key), queue) {
				continue
			}
			if !yield(name, nil) {
				return
			}
		}
	}
}

// passing are the queues of which more keys may come, while keys come in their order: those that the last key began
// with. They are several where a lock's name goes on from another's with a slash, as names in the layout
// [Concurrency] do.
type passing []string

// first reports whether this is the first key of a queue that came.
func (p *passing) first(key, queue string) bool {
	*p = slices.DeleteFunc(*p, func(q string) bool { return !strings.HasPrefix(key, q) })
	if slices.Contains(*p, queue) {
		return false
	}
	*p = append(*p, queue)
	return true
}

// namesFrom is what the keys of all locks begin with whose names begin with prefix: names are encoded byte by byte.
func (d *Driver) namesFrom(prefix string) string {
	if d.keys.layout == Concurrency {
		return d.keys.root + prefix
	}
	return d.keys.names() + driver.EncodeName(prefix, 0)
}

// lockOf is the lock on which a key is a claim: what the keys of its queue begin with, and its name.
func (d *Driver) lockOf(kv *mvccpb.KeyValue) (queue, name string, ok bool) {
	key := string(kv.Key)
	foreign := d.keys.layout == Concurrency
	if strings.HasPrefix(key, d.keys.ended()) || foreign && strings.HasPrefix(key, d.keys.notes()) {
		return "", "", false
	}
	queue, ok = queueOf(key)
	if foreign {
		if _, ours, err := d.seat(queue, kv); !ours && err == nil {
			queue, _, ok = peerKey(kv)
		}
	}
	if !ok {
		return "", "", false
	}
	name, ok = d.keys.name(queue)
	return queue, name, ok
}

// complete reads what lockOf needs in the layout [Concurrency], and keys alone do not tell: the lease of a peer's key,
// and the value, as that key may as well be ours on a lock with a shorter name. What is gone by now has neither.
func (d *Driver) complete(ctx context.Context, kvs []*mvccpb.KeyValue) error {
	if d.keys.layout != Concurrency {
		return nil
	}
	isOther := func(kv *mvccpb.KeyValue) bool { return !endsInHex(string(kv.Key)) }
	maybe := slices.DeleteFunc(slices.Clone(kvs), isOther)
	for part := range slices.Chunk(maybe, maxOps) {
		ops := make([]*pb.RequestOp, len(part))
		for i, kv := range part {
			ops[i] = readOp(&pb.RangeRequest{Key: kv.Key})
		}
		answer, _, err := d.commit(ctx, nil, ops, nil)
		if err != nil {
			return explain(err)
		}
		for i, kv := range part {
			for _, now := range rangeOf(answer, i).Kvs {
				kv.Value, kv.Lease = now.Value, now.Lease
			}
		}
	}
	return nil
}

// pageSize is how many keys are read at once.
const pageSize = 1000

// keysFrom yields all keys that begin with prefix, in pages. A key that comes or goes meanwhile may be missed.
func (d *Driver) keysFrom(ctx context.Context, prefix string) iter.Seq2[*mvccpb.KeyValue, error] {
	return func(yield func(*mvccpb.KeyValue, error) bool) {
		from, end := start(prefix), endOf(prefix)
		driver.Pages(yield, func() (page []*mvccpb.KeyValue, more bool, err error) {
			answer, err := d.get(ctx, &pb.RangeRequest{
				Key: []byte(from), RangeEnd: end, KeysOnly: true, Limit: pageSize,
			})
			if err != nil {
				return nil, false, explain(err)
			}
			if n := len(answer.Kvs); n > 0 {
				from = string(answer.Kvs[n-1].Key) + "\x00"
			}
			return answer.Kvs, answer.More, d.complete(ctx, answer.Kvs)
		})
	}
}

// start is the first key that may begin with prefix. etcd has no empty key.
func start(prefix string) string {
	if prefix == "" {
		return "\x00"
	}
	return prefix
}
