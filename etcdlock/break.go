package etcdlock

import (
	"context"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/holdfast-go/holdfast/driver"
)

// Break takes a claim away by force, as [driver.Breaker] says.
func (d *Driver) Break(ctx context.Context, name, id string) error {
	if err := d.open(ctx); err != nil {
		return err
	}
	s, ok, err := d.find(ctx, driver.Claim{Name: name, ID: id})
	switch {
	case err != nil:
		return err
	case !ok:
		return driver.ErrGone
	}
	answer, err := d.finish(ctx, ending{
		there:  is(s.key, s.token),
		remove: clientv3.OpDelete(s.key),
		note:   d.bury(d.keys.tomb(name, id), s.lease, false, s.token),
	})
	switch {
	case isLeaseLost(err):
		return driver.ErrGone
	case err != nil:
		return explain(err)
	case !answer.Succeeded:
		return driver.ErrGone
	}
	return nil
}
