package zklock

import (
	"context"
	"slices"

	"github.com/holdfast-go/holdfast/driver"
)

// A finding is what the server has of a claim.
type finding struct {
	record  record  // zero when there is no note
	note    content // stat is nil when there is no note
	seat    *seat   // the claim in the queue; nil when it is not there
	granted bool
	token   uint64
}

func (f finding) alive() bool { return f.seat != nil && f.record.End == alive }

// find looks for a claim, whichever client made it.
func (d *Driver) find(ctx context.Context, s *session, c driver.Claim) (f finding, err error) {
	path := d.keys.note(c.Name, c.ID)
	var seats []seat
	err = together(
		func() (err error) { f.note, err = s.getIfThere(ctx, path); return err },
		func() (err error) { seats, err = s.seats(ctx, d.keys.queue(c.Name)); return err })
	if err != nil {
		return f, err
	}
	if i := slices.IndexFunc(seats, func(s seat) bool { return s.id == c.ID }); i >= 0 {
		f.seat, f.granted = &seats[i], boundsOf(seats[:i+1]).Fit()
		if err := d.checkFormats(seats[:i+1]); err != nil {
			return f, err
		}
	}
	if f.note.stat == nil {
		return f, d.findPeer(ctx, s, c, &f)
	}
	f.token = uint64(f.note.stat.Czxid)
	f.record, err = d.decode(path, f.note.data)
	return f, err
}

// findPeer completes what is found of a claim without a note: only peers' have none.
func (d *Driver) findPeer(ctx context.Context, s *session, c driver.Claim, f *finding) error {
	if f.seat == nil || !f.seat.peer {
		f.seat = nil
		return nil
	}
	node, err := s.getIfThere(ctx, d.keys.queue(c.Name)+"/"+f.seat.node)
	switch {
	case err != nil:
		return err
	case node.stat == nil:
		f.seat = nil
	default:
		f.token = uint64(node.stat.Czxid)
	}
	return nil
}

// seek finds a claim as it is now, whichever client made it, and the session to go on in.
func (d *Driver) seek(ctx context.Context, c driver.Claim) (s *session, f finding, err error) {
	f, err = inquire(ctx, d, func(asking *session) (finding, error) {
		s = asking
		if err := s.sync(ctx); err != nil {
			return finding{}, err
		}
		return d.find(ctx, s, c)
	})
	return s, f, err
}
