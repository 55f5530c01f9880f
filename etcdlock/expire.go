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

// live makes the claim live for ttl from this instant. It reports whether the claim had not ended.
func (e *claim) live(ttl time.Duration, from instant) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.isOver() || e.leaving {
		return false
	}
	e.ttl, e.longest, e.until = ttl, max(e.longest, ttl), from.add(ttl)
	if e.timer == nil {
		e.timer = time.AfterFunc(e.until.sub(now()), e.expire)
	} else {
		e.timer.Reset(e.until.sub(now()))
	}
	return true
}

// expire ends a claim that was not renewed. The timer calls it.
func (e *claim) expire() {
	if e.renewedMeanwhile() {
		return
	}
	e.end()
	e.d.run(func() {
		e.remove()
		e.left()
		e.bury()
	})
}

func (e *claim) renewedMeanwhile() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	left := e.until.sub(now())
	if left > 0 && !e.isOver() {
		e.timer.Reset(left)
	}
	e.leaving = left <= 0
	return left > 0
}

// left notes that the claim is out of the queue, or another client's.
func (e *claim) left() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.leaving = false
}

// isLeaving reports whether the claim is on its way out: whatever the server says of it will soon be wrong.
func (e *claim) isLeaving() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.leaving
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
	note := tomb{Token: e.tokenNow()}
	_, _, err := e.d.finish(ctx, ending{
		there:  clientv3.Compare(clientv3.LeaseValue(e.key), "=", l.id),
		remove: clientv3.OpDelete(e.key),
		tomb:   e.tomb, note: note, ttl: e.lifetimeOfNote(),
		otherwise: func(notes clientv3.LeaseID) []clientv3.Op {
			unseen := []clientv3.Cmp{e.nowhere(), absent(e.tomb)}
			return []clientv3.Op{clientv3.OpTxn(unseen, []clientv3.Op{e.d.bury(e.tomb, notes, note)}, nil)}
		},
	})
	e.keepNote()
	return explain(err)
}
