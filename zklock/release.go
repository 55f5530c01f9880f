package zklock

import (
	"context"
	"errors"
	"path"

	"github.com/go-zookeeper/zk"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/leased"
)

// release takes a claim out of the queue, as [driver.OpRelease] says, in one change that also leaves a tombstone. So
// every later request gets the right answer, on whatever connection.
func (d *Driver) release(ctx context.Context, c driver.Claim) error {
	e := d.claims.Known(c)
	switch {
	case e == nil || e.isGone():
		return d.releaseUnknown(ctx, c)
	case e.place() == "":
		return d.undo(ctx, e, c)
	case c.Token != 0 && c.Token != e.Token():
		return driver.ErrGone
	default:
		return d.releaseKnown(ctx, e, c)
	}
}

// releaseKnown releases a claim of this client.
func (d *Driver) releaseKnown(ctx context.Context, e *claim, c driver.Claim) error {
	err := d.finish(ctx, e.s, e.place(), e.note, released, e.Token())
	switch {
	case err == nil:
		d.forgetButNote(e)
		return nil
	case isNoNode(err):
		err = d.releaseAgain(ctx, e.s, c)
		e.rememberEnd()
		return err
	case errors.Is(err, errSessionLost):
		e.rememberEnd()
		return driver.ErrGone
	default:
		return err
	}
}

// forgetButNote is for a claim whose node is gone, and whose note is there for a while.
func (d *Driver) forgetButNote(e *claim) {
	d.claims.Forget(e)
	e.s.room.give(e.seatKey())
	e.s.tombstones.add(e.note, e.Longest())
}

// releaseAgain answers a release of a claim that is not in the queue, from its note.
func (d *Driver) releaseAgain(ctx context.Context, s *session, c driver.Claim) error {
	at := d.keys.note(c.Name, c.ID)
	note, err := s.getIfThere(ctx, at)
	switch {
	case err != nil:
		return err
	case note.stat == nil:
		return driver.ErrGone
	}
	r, err := d.decode(at, note.data)
	if err != nil {
		return err
	}
	return r.releaseAgain(c.Token)
}

func (r record) releaseAgain(token uint64) error {
	return leased.Tombstone{Released: r.End == released, Token: r.Token}.Release(token)
}

// undo releases a claim of this client of which it is not known whether it was ever queued, and bars its ID.
func (d *Driver) undo(ctx context.Context, e *claim, c driver.Claim) error {
	err := d.bar(ctx, e.s, c, released)
	switch {
	case err == nil || isGone(err):
		d.forgetButNote(e)
	case errors.Is(err, errSessionLost):
		e.rememberEnd()
		return driver.ErrGone
	}
	return err
}

// releaseUnknown releases a claim that this client does not have: it has ended, or another client requested it.
func (d *Driver) releaseUnknown(ctx context.Context, c driver.Claim) error {
	if c.Token == 0 {
		return d.barUnknown(ctx, c)
	}
	s, f, err := d.seek(ctx, c)
	if err != nil {
		return err
	}
	return d.releaseFound(ctx, s, c, f, released)
}

// barUnknown bars the ID of a claim that this client does not have.
func (d *Driver) barUnknown(ctx context.Context, c driver.Claim) error {
	note := notePlace(d.keys.note(c.Name, c.ID))
	s, err := d.sessionFor(ctx, max(c.TTL, minTTL), note)
	if err != nil {
		return err
	}
	err = d.bar(ctx, s, c, released)
	switch {
	case err == nil || isGone(err):
		s.tombstones.add(note.key, max(c.TTL, s.ttl))
	case isRefused(err):
		s.room.give(note.key)
	}
	return err
}

// releaseFound ends a claim that was found, if it is the one meant.
func (d *Driver) releaseFound(ctx context.Context, s *session, c driver.Claim, f finding, how end) error {
	switch {
	case !f.alive():
		return f.record.releaseAgain(c.Token)
	case c.Token != 0 && c.Token != f.token:
		return driver.ErrGone
	}
	err := d.finish(ctx, s, d.keys.queue(c.Name)+"/"+f.seat.node, d.keys.note(c.Name, c.ID), how, f.token)
	if isNoNode(err) {
		return d.releaseAgain(ctx, s, c)
	}
	return err
}

// bar bars an ID, so that a request that is still under way finds that it is gone; and if the claim is in the queue,
// ends it.
func (d *Driver) bar(ctx context.Context, s *session, c driver.Claim, how end) error {
	note := d.keys.note(c.Name, c.ID)
	for {
		_, err := call(ctx, s, func(conn *zk.Conn) (string, error) {
			return conn.Create(note, d.ended(taken, 0), zk.FlagEphemeral, d.acl)
		})
		switch {
		case err == nil:
			return driver.ErrGone
		case errors.Is(err, zk.ErrNodeExists):
			f, err := d.find(ctx, s, c)
			if err != nil {
				return err
			}
			return d.releaseFound(ctx, s, c, f, how)
		case !isNoNode(err):
			return err
		}
		if err := s.makeParent(ctx, path.Dir(note)); err != nil {
			return err
		}
	}
}
