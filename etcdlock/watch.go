package etcdlock

import (
	"context"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// changed blocks until the queue may have changed since begun, as [driver.Followers] says.
func (d *Driver) changed(ctx context.Context, name string, begun func()) error {
	watching, stop := d.until(ctx)
	defer stop()
	f := d.watch(watching, d.keys.queue(name), clientv3.WithPrefix())
	for {
		select {
		case r, ok := <-f.news:
			if broken(r, ok) {
				return d.watchBroke(ctx, r)
			}
			if r.Created {
				begun()
			}
			if len(r.Events) > 0 {
				return nil
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// until returns a context that ends with ctx, or with the driver.
func (d *Driver) until(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(d.lifetime, cancel)
	return ctx, func() {
		stop()
		cancel()
	}
}

// watchBroke says why a watch broke; nil when the caller only has to look again.
func (d *Driver) watchBroke(ctx context.Context, r clientv3.WatchResponse) error {
	if err := d.open(ctx); err != nil {
		return err
	}
	if r.CompactRevision > 0 {
		return nil
	}
	return explain(r.Err())
}
