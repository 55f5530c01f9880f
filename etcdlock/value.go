package etcdlock

import (
	"context"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/leased"
)

// A keptValue is what a lock keeps between its holders, as read.
type keptValue struct {
	leased.ValueRecord
	mod int64 // revision of the last change; zero: there is no such key
}

// value returns what a holder has set last, as [driver.OpValue] says.
func (d *Driver) value(ctx context.Context, name string) (driver.Value, error) {
	kept, err := d.keptValue(ctx, name)
	if err != nil || kept.Text == "" {
		return driver.Value{}, err
	}
	return kept.Value(), nil
}

// setValue sets it, as [driver.OpSetValue] says. The transaction compares the key of the claim, and that of the value
// with what was read before. That a claim is granted needs no comparison: it stays so for as long as its key is there.
func (d *Driver) setValue(ctx context.Context, c driver.Claim, v driver.Value) error {
	for {
		s, err := d.granted(ctx, c.Name, c.ID)
		switch {
		case err != nil:
			return err
		case s.token != c.Token:
			return driver.ErrGone
		}
		kept, err := d.keptValue(ctx, c.Name)
		if err != nil {
			return err
		}
		if write, err := v.Supersede(kept.Value()); !write {
			return err
		}
		done, err := d.replaceValue(ctx, s, c.Name, kept, v)
		if done || err != nil {
			return err
		}
	}
}

// replaceValue puts a value in the place of the one that was read, and reports whether all was still as read.
func (d *Driver) replaceValue(ctx context.Context, s seat, name string, kept keptValue, v driver.Value) (bool, error) {
	key := d.keys.value(name)
	var l *lease
	attached := clientv3.LeaseID(clientv3.NoLease)
	if v.Text == "" { // that it was removed need not be known for longer than a late request may come
		var err error
		if l, err = d.noteLease(ctx, s.ttl()); err != nil {
			return false, err
		}
		attached = l.id
	}
	text := encode(leased.NewValueRecord(d.format, v))
	answer, _, err := d.commit(ctx,
		[]*pb.Compare{is(s.key, s.token), unchanged(key, kept.mod)}, []*pb.RequestOp{putOp(key, text, attached)}, nil)
	switch {
	case l != nil && l.refuses(ctx, err):
		return false, nil
	case err != nil:
		return false, explain(err)
	}
	return answer.Succeeded, nil
}

func (d *Driver) keptValue(ctx context.Context, name string) (kept keptValue, err error) {
	answer, err := d.get(ctx, only(d.keys.value(name)))
	if err != nil {
		return kept, explain(err)
	}
	if len(answer.Kvs) == 0 {
		return kept, nil
	}
	return d.readValue(answer.Kvs[0])
}

func (d *Driver) readValue(kv *mvccpb.KeyValue) (kept keptValue, err error) {
	err = d.decode(kv, &kept.Format, &kept.ValueRecord)
	kept.mod = kv.ModRevision
	return kept, err
}
