package etcdlock

import (
	"context"
	"errors"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/holdfast-go/holdfast/driver"
)

// The lease of a claim is shared with other claims, so it does not end when this one is no longer renewed. While this
// process lives, it takes such claims out of the queue by itself; when it does not, the lease ends.

// expire takes a claim out of the queue that was not renewed. It is over for its callers at once; until it has
// left the queue, it counts as leaving, so that nobody takes it over from there.
func (e *claim) expire() {
	e.End()
	e.dropPlace() // for good: another client may have taken the claim over, which is at that key then
	e.d.running.Go(func() {
		e.remove()
		e.Left()
		e.rememberEnd()
	})
}

// remove deletes a claim until that is confirmed, or the leases that it may be on are gone. It goes on after a refusal,
// too: the refusal may be withdrawn, and as long as a lease lives for other claims, this one is in the way.
func (e *claim) remove() {
	for e.hasLease() {
		err := e.removeOnce()
		if err == nil || e.rest(err) != nil {
			return
		}
	}
}

// refusedPause is between two attempts at what was refused, such as to remove a claim: that seldom changes.
const refusedPause = time.Second

// rest pauses between two attempts to remove a claim.
func (e *claim) rest(err error) error {
	if !errors.Is(err, driver.ErrRefused) {
		return pause(e.d.lifetime)
	}
	if l := e.leased(); l.own {
		l.lose() // it ends by itself, since nobody extends it
	}
	return driver.Sleep(e.d.lifetime, refusedPause)
}

// removeOnce deletes the claim unless another client has taken it over, and bars its ID. The comparison is with
// the lease and not the token, which is not known while the first request is unanswered.
func (e *claim) removeOnce() error {
	for _, l := range e.leases() {
		if err := e.removeFrom(l); err != nil {
			return err
		}
	}
	return nil
}

func (e *claim) removeFrom(l *lease) error {
	ctx, cancel := context.WithTimeout(e.d.lifetime, l.ttl/attemptPart)
	defer cancel()
	note := tombstone{Token: e.Token()}
	_, _, err := e.d.finish(ctx, ending{
		there:     isOn(e.key, l.id),
		remove:    deleteOp(e.key),
		tombstone: e.tombstone, note: note, ttl: e.Longest(), ours: e,
		otherwise: func(notes clientv3.LeaseID) []*pb.RequestOp {
			unseen := []*pb.Compare{absent(e.key), absent(e.tombstone)}
			bar := []*pb.RequestOp{e.d.putTombstone(e.tombstone, notes, note)}
			return []*pb.RequestOp{nestedOp(unseen, bar, nil)}
		},
	})
	return explain(err)
}
