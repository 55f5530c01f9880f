package quorum

import (
	"context"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// watch has the next change of a lock's queue told, for OpWatch. It returns when a majority watches: whoever gets the
// lock, or releases it, does so on one of these nodes. It fails where no node watches.
func (d *Driver) watch(ctx context.Context, name string) error {
	if d.lifetime.Err() != nil {
		return driver.ErrClosed
	}
	d.events.watch(name, func() { d.tell(driver.Event{Name: name}) })
	answers := make(chan error, len(d.nodes))
	for _, n := range d.nodes {
		d.spawn(func(ctx context.Context) { answers <- d.watchOn(ctx, n, name) })
	}
	watching := 0
	var errs []error
	for range d.nodes {
		select {
		case err := <-answers:
			if err != nil {
				errs = append(errs, err)
			} else if watching++; watching >= majority(len(d.nodes)) {
				return nil
			}
		case <-ctx.Done():
			return ctx.Err()
		case <-d.lifetime.Done():
			return driver.ErrClosed
		}
	}
	if watching == 0 {
		return d.notEnough("none of %d servers watches the queue", errs)
	}
	return nil
}

// watchOn has a node tell of the next change of its queue for a lock.
func (d *Driver) watchOn(ctx context.Context, n *node, name string) error {
	return n.do(ctx, &driver.Op{Kind: driver.OpWatch, Claim: on(nodeName(name))}, d.patience(d.traits.MaxTTL)).Err
}

// watch has the next change of a lock's queue told, or that WatchTime has passed.
func (es *events) watch(name string, tell func()) {
	es.mu.Lock()
	defer es.mu.Unlock()
	if late := es.watched[name]; late != nil {
		late.Reset(driver.WatchTime)
		return
	}
	es.watched[name] = time.AfterFunc(driver.WatchTime, func() {
		if _, watched := es.take(name); watched {
			tell()
		}
	})
}
