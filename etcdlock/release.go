package etcdlock

import (
	"context"
	"errors"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/leased"
)

// release takes a claim out of the queue, as [driver.OpRelease] says, in one step. Where copies of the claim's
// request may be under way, that also leaves a tombstone, so that each later request gets the right answer on any
// connection. Only a store that is full takes no tombstone.
func (d *Driver) release(ctx context.Context, c driver.Claim) error {
	e := d.claims.Known(c)
	switch {
	case e == nil || e.isGone():
		if end, released := d.released.Find(c); released {
			return end.Release(c.Token)
		}
		return d.releaseUnknown(ctx, c)
	case c.Token == 0:
		c.Token = e.Token()
	}
	if c.Token == 0 {
		return d.undo(ctx, e)
	}
	return d.releaseKnown(ctx, e, c)
}

// releaseKnown releases a claim of this client by its token.
func (d *Driver) releaseKnown(ctx context.Context, e *claim, c driver.Claim) error {
	if e.isBare(c) {
		return d.releaseBare(ctx, e, c)
	}
	err := d.releaseKey(ctx, c, e.key, e.Longest(), e)
	switch {
	case err == nil:
		d.forgetReleased(e) // not before the answer: a claim whose release is lost is still taken out when it expires
	case c.Token == e.Token() && answersGone(err):
		e.rememberEnd()
	}
	return err
}

// isBare reports whether a release of the claim leaves no note: this client put it at its key, by one request that was
// answered.
func (e *claim) isBare(c driver.Claim) bool {
	return c.Token != 0 && c.Token == e.Token() && !e.InDoubt() && e.hasPlace()
}

// releaseBare releases a claim whose one request was answered: no copy of that is under way, so the end needs no note.
// This client remembers it, for requests to repeat the release.
func (d *Driver) releaseBare(ctx context.Context, e *claim, c driver.Claim) error {
	answer, again, err := d.commit(ctx, []*pb.Compare{is(e.key, c.Token)}, []*pb.RequestOp{deleteOp(e.key)},
		[]*pb.RequestOp{getOp(e.tombstone)})
	e.sentRelease(again, err)
	if err != nil {
		return explain(err)
	}
	if !answer.Succeeded {
		err = d.releasedBefore(ctx, e, c, answer.Responses[0].GetResponseRange())
	}
	switch {
	case err == nil:
		d.forgetBare(e, c)
	case answersGone(err):
		e.rememberEnd()
	}
	return err
}

// releasedBefore answers a release that finds its claim gone, from the note of its end. Where there is none, an earlier
// release of this client may have ended it; else its lease has ended.
func (d *Driver) releasedBefore(ctx context.Context, e *claim, c driver.Claim, note *pb.RangeResponse) error {
	if len(note.Kvs) > 0 || !e.isMaybeReleased() {
		return d.releaseAgain(note, c.Token)
	}
	switch left, err := d.timeToLive(ctx, e.leased().id); {
	case err != nil:
		return explain(err)
	case left.TTL <= 0:
		return driver.ErrGone
	}
	return nil
}

// forgetBare drops what is known of a claim that was released without a note.
func (d *Driver) forgetBare(e *claim, c driver.Claim) {
	d.released.Add(c, e.Longest())
	d.forgetReleased(e)
}

// sentRelease notes whether a bare release with this outcome may have been done without an answer.
func (e *claim) sentRelease(again bool, err error) {
	if again || isDone(err) || !driver.IsAnswer(err) && !errors.Is(err, driver.ErrUnsent) {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.maybeReleased = true
	}
}

func (e *claim) isMaybeReleased() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.maybeReleased
}

// releaseKey deletes the key if it is still that of the claim, and notes the end for this long. ours is the claim if
// this client keeps it.
func (d *Driver) releaseKey(ctx context.Context, c driver.Claim, key string, ttl time.Duration, ours *claim) error {
	end := d.keys.tombstone(c.Name, c.ID)
	answer, _, err := d.finish(ctx, ending{
		there:     is(key, c.Token),
		remove:    deleteOp(key),
		tombstone: end, note: tombstone{Released: true, Token: c.Token}, ttl: ttl, ours: ours,
		otherwise: func(clientv3.LeaseID) []*pb.RequestOp { return []*pb.RequestOp{getOp(end)} },
	})
	switch {
	case err != nil:
		return explain(err)
	case answer.Succeeded:
		return nil
	default:
		return d.releaseAgain(answer.Responses[0].GetResponseRange(), c.Token)
	}
}

// releaseAgain answers a release of a claim that is not there, from the note of its end.
func (d *Driver) releaseAgain(r *pb.RangeResponse, token uint64) error {
	if len(r.Kvs) == 0 {
		return driver.ErrGone
	}
	var note tombstone
	if err := d.decode(r.Kvs[0], &note.Format, &note); err != nil {
		return err
	}
	return leased.Tombstone{Released: note.Released, Token: note.Token}.Release(token)
}

// undo releases a claim of this client of which it is not known whether it was ever queued, and bars its ID.
func (d *Driver) undo(ctx context.Context, e *claim) error {
	answer, _, err := d.finish(ctx, ending{
		there:     e.queuedHere(),
		remove:    deleteOp(e.key),
		tombstone: e.tombstone, note: tombstone{Released: true}, ttl: e.Longest(), ours: e,
		otherwise: func(notes clientv3.LeaseID) []*pb.RequestOp { return []*pb.RequestOp{d.barOp(e.tombstone, notes)} },
	})
	if err != nil {
		return explain(err)
	}
	d.forget(e)
	if answer.Succeeded {
		return nil
	}
	return d.releaseAgain(barred(answer.Responses[0]), 0)
}

// queuedHere compares what is at the key with the claim. While its token is not known, that can be nothing else.
func (e *claim) queuedHere() *pb.Compare {
	if token := e.Token(); token != 0 {
		return is(e.key, token)
	}
	e.sweep()
	return present(e.key)
}

// barOp notes an end of a claim that is not there, unless there is a note, which it reads.
func (d *Driver) barOp(key string, lease clientv3.LeaseID) *pb.RequestOp {
	return nestedOp(
		[]*pb.Compare{absent(key)},
		[]*pb.RequestOp{d.putTombstone(key, lease, tombstone{})},
		[]*pb.RequestOp{getOp(key)},
	)
}

// barred is the note that was there, as barOp read it; empty when there was none.
func barred(r *pb.ResponseOp) *pb.RangeResponse {
	nested := r.GetResponseTxn()
	if nested.Succeeded {
		return &pb.RangeResponse{}
	}
	return nested.Responses[0].GetResponseRange()
}

// releaseUnknown releases a claim that this client does not have: it has ended, or another client requested it.
func (d *Driver) releaseUnknown(ctx context.Context, c driver.Claim) error {
	if c.Token == 0 {
		return d.bar(ctx, c)
	}
	end := d.keys.tombstone(c.Name, c.ID)
	answer, _, err := d.commit(ctx, nil, []*pb.RequestOp{readOp(d.findRange(c)), getOp(end)}, nil)
	if err != nil {
		return explain(err)
	}
	s, ok := d.pick(answer.Responses[0].GetResponseRange().Kvs, c)
	if !ok {
		return d.releaseAgain(answer.Responses[1].GetResponseRange(), c.Token)
	}
	return d.releaseKey(ctx, c, s.key, max(s.lifetimeOfNote(), c.TTL), nil)
}

// bar bars an ID, so that a request that is still under way finds that it is gone, and then takes the claim out of
// the queue if it was there.
func (d *Driver) bar(ctx context.Context, c driver.Claim) error {
	ttl := max(c.TTL, time.Second)
	l, err := d.noteLease(ctx, ttl)
	if err != nil {
		return err
	}
	end := d.keys.tombstone(c.Name, c.ID)
	answer, _, err := d.commit(ctx, nil, []*pb.RequestOp{d.barOp(end, l.id), readOp(d.findRange(c))}, nil)
	switch {
	case l.refuses(ctx, err):
		return d.bar(ctx, c)
	case err != nil:
		return explain(err)
	}
	if s, ok := d.pick(answer.Responses[1].GetResponseRange().Kvs, c); ok {
		c.Token = s.token
		return d.releaseKey(ctx, c, s.key, max(s.lifetimeOfNote(), ttl), nil)
	}
	return d.releaseAgain(barred(answer.Responses[0]), 0)
}
