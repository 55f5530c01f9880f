package etcdlock

import (
	"context"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/holdfast-go/holdfast/driver"
)

// breakClaim ends a claim by force, as [driver.OpBreak] says.
func (d *Driver) breakClaim(ctx context.Context, name, id string) error {
	s, err := d.find(ctx, driver.Claim{Name: name, ID: id})
	if err != nil {
		return err
	}
	end := d.keys.tombstone(name, id)
	answer, again, err := d.finish(ctx, ending{
		there:     is(s.key, s.token),
		remove:    deleteOp(s.key),
		tombstone: end, note: tombstone{Token: s.token}, ttl: s.lifetimeOfNote(),
		otherwise: func(clientv3.LeaseID) []*pb.RequestOp { return []*pb.RequestOp{getOp(end)} },
	})
	switch {
	case err != nil:
		return explain(err)
	case !answer.Succeeded && again && d.isBroken(answer.Responses[0].GetResponseRange(), s.token):
		return nil // by an attempt that was not answered
	case !answer.Succeeded:
		return driver.ErrGone
	}
	return nil
}

// isBroken reports whether the note of a claim's end says that it was not released.
func (d *Driver) isBroken(r *pb.RangeResponse, token uint64) bool {
	var note tombstone
	return len(r.Kvs) > 0 && d.decode(r.Kvs[0], &note.Format, &note) == nil && !note.Released && note.Token == token
}
