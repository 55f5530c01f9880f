package zklock

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"

	"github.com/holdfast-go/holdfast/driver"
)

// The session of a claim is shared with other claims, so it does not end when this one is no longer renewed. While
// this process lives, it takes such claims out of the queue by itself; when it does not, the session ends.

// expire takes a claim out of the queue that was not renewed.
func (e *claim) expire() {
	e.d.running.Go(func() {
		e.End()
		e.remove()
		e.rememberEnd()
	})
}

// remove takes the claim out of the queue until that is confirmed, or its session is gone. Where the server
// refuses, the session has to end: no lock stays taken by a claim that nobody renews. But it does so with the last of
// its claims on other locks, and gets no more.
func (e *claim) remove() {
	for !e.s.isLost() {
		err := e.removeOnce()
		switch {
		case err == nil || e.d.lifetime.Err() != nil:
			return
		case !isRefused(err):
			pause(e.d.lifetime) // with the lifetime this ends
		case e.s.room.closeFor(e.queue, e.d.keys.notes()):
			e.s.end()
		default:
			_ = driver.Sleep(e.d.lifetime, e.s.time/keepPart) // likewise
		}
	}
}

func (e *claim) removeOnce() error {
	ctx, cancel := context.WithTimeout(e.d.lifetime, e.s.time/attemptPart)
	defer cancel()
	if e.place() == "" { // its first request was never answered
		err := e.d.bar(ctx, e.s, driver.Claim{Name: e.Name, ID: e.ID}, taken)
		if isGone(err) {
			return nil
		}
		return err
	}
	err := e.d.finish(ctx, e.s, e.place(), e.note, taken, e.Token())
	if isNoNode(err) {
		return nil
	}
	return err
}

// finish takes a claim out of the queue, and leaves a tombstone. [zk.ErrNoNode] when the claim is not there. Where
// a quota leaves no room for the tombstone, it says less, or there is none: no quota keeps a lock taken.
func (d *Driver) finish(ctx context.Context, s *session, node, note string, how end, token uint64) error {
	err := d.finishWith(ctx, s, node, note, d.ended(how, token))
	if errors.Is(err, errQuota) {
		err = d.finishWith(ctx, s, node, note, d.ended(how, 0))
	}
	if errors.Is(err, errQuota) {
		_, _, err = s.multi(ctx, &zk.DeleteRequest{Path: node, Version: -1}, &zk.DeleteRequest{Path: note, Version: -1})
	}
	return err
}

func (d *Driver) finishWith(ctx context.Context, s *session, node, note string, data []byte) error {
	_, failed, err := s.multi(ctx, leaving(node, note, data)...)
	if failed == 1 && isNoNode(err) { // a peer's claim, or somebody has deleted the note
		_, err = call(ctx, s, func(c *zk.Conn) (struct{}, error) { return struct{}{}, c.Delete(node, -1) })
	}
	return err
}

// leaving are the steps that take a claim out of the queue: they delete its node and leave a tombstone.
func leaving(node, note string, data []byte) []any {
	return []any{
		&zk.DeleteRequest{Path: node, Version: -1},
		&zk.SetDataRequest{Path: note, Data: data, Version: -1},
	}
}
