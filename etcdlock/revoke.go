package etcdlock

import (
	"context"
	"slices"

	"go.etcd.io/etcd/api/v3/mvccpb"

	"github.com/holdfast-go/holdfast/driver"
)

// revoke asks a holder to release the lock, as [driver.OpRevoke] says. A concurrency.Mutex cannot be asked.
func (d *Driver) revoke(ctx context.Context, name, id string) error {
	for done := false; !done; {
		s, err := d.granted(ctx, name, id)
		switch {
		case err != nil:
			return err
		case s.peer:
			return driver.Unsupported(d.Traits(), "revoking a claim of another kind of client")
		case s.Revoked:
			return nil
		}
		s.Revoked = true
		if done, err = d.rewrite(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// granted returns a claim that is granted. [driver.ErrGone] when there is none, or it waits.
func (d *Driver) granted(ctx context.Context, name, id string) (s seat, err error) {
	queue := d.keys.queue(name)
	answer, err := d.get(ctx, oldestFirst(queue))
	if err != nil {
		return s, explain(err)
	}
	place := slices.IndexFunc(answer.Kvs, func(kv *mvccpb.KeyValue) bool {
		_, isIt := d.pick([]*mvccpb.KeyValue{kv}, driver.Claim{Name: name, ID: id})
		return isIt
	})
	seats, err := d.seats(queue, answer.Kvs[:place+1]) // who waits behind may be of a later release
	if err != nil {
		return s, err
	}
	at := slices.IndexFunc(seats, func(s seat) bool { return s.ID == id })
	if at < 0 || !entries(name, seats, nil)[at].Granted {
		return s, driver.ErrGone
	}
	return seats[at], nil
}
