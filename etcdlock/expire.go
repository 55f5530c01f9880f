package etcdlock

import (
	"context"
	"errors"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/holdfast-go/holdfast/driver"
)

// The lease of a claim is shared with other claims, so it does not end when this one is no longer renewed. While this
// process lives, it takes such claims out of the queue by itself; when it does not, the lease ends.

// expire takes a claim out of the queue that was not renewed. It is over at once; meanwhile it counts as leaving.
func (e *claim) expire() {
	e.End()
	e.d.running.Go(func() {
		e.remove()
		e.Left()
		e.bury()
	})
}

// remove deletes a claim until that is confirmed, or its lease is gone. The lease may live on for other claims, so a
// refusal is no reason to stop: it may be withdrawn, and meanwhile the claim is in the way of others.
func (e *claim) remove() {
	for !e.leased().isLost() {
		err := e.removeOnce()
		if err == nil || e.rest(err) != nil {
			return
		}
	}
}

// refusedPause is between two attempts to remove a claim when the first was refused: what was refused seldom changes.
const refusedPause = time.Second

// rest waits between two attempts to remove a claim.
func (e *claim) rest(err error) error {
	if !errors.Is(err, driver.ErrRefused) {
		return pause(e.d.lifetime)
	}
	return driver.Sleep(e.d.lifetime, refusedPause)
}

// removeOnce deletes the claim unless another client has taken it over, and bars its ID.
func (e *claim) removeOnce() error {
	l := e.leased()
	ctx, cancel := context.WithTimeout(e.d.lifetime, l.ttl/attemptPart)
	defer cancel()
	note := tomb{Token: e.Token()}
	_, _, err := e.d.finish(ctx, ending{
		there:  clientv3.Compare(clientv3.LeaseValue(e.key), "=", l.id),
		remove: clientv3.OpDelete(e.key),
		tomb:   e.tomb, note: note, ttl: e.Longest(),
		otherwise: func(notes clientv3.LeaseID) []clientv3.Op {
			unseen := []clientv3.Cmp{e.nowhere(), absent(e.tomb)}
			return []clientv3.Op{clientv3.OpTxn(unseen, []clientv3.Op{e.d.bury(e.tomb, notes, note)}, nil)}
		},
	})
	e.keepNote()
	return explain(err)
}
