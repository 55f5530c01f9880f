package zklock

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/leased"
)

// A finding is what the server has of a claim.
type finding struct {
	record record  // zero when there is no note
	note   content // stat is nil when there is no note
	seats  []seat  // the whole queue
	seat   *seat   // the claim in it; nil when it is not there
	token  uint64
}

func (f finding) alive() bool { return f.seat != nil && f.record.End == alive }

// find looks for a claim, whichever client made it.
func (d *Driver) find(ctx context.Context, s *session, c driver.Claim) (f finding, err error) {
	path := d.keys.note(c.Name, c.ID)
	err = together(
		func() (err error) { f.note, err = s.getIfThere(ctx, path); return err },
		func() (err error) { f.seats, err = s.seats(ctx, d.keys.queue(c.Name)); return err })
	if err != nil {
		return f, err
	}
	if i := slices.IndexFunc(f.seats, func(s seat) bool { return s.id == c.ID }); i >= 0 {
		f.seat = &f.seats[i]
		if err := d.checkFormats(f.seats[:i+1]); err != nil {
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

// adopt renews a claim that another client requested.
func (d *Driver) adopt(ctx context.Context, c driver.Claim) (driver.Status, error) {
	s, f, err := d.seek(ctx, c)
	if err != nil {
		return driver.Status{}, err
	}
	return d.keep(ctx, s, c, f)
}

// seek finds a claim of another client as it is now, and the session to go on in.
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

// keep renews a claim of another client that was found.
//
// The claim cannot leave the session of that client, and ends with it. But who renewed it last says how long it
// lives, and ends it when that is over. The note says who that was: each renewal by another one than before counts
// Kept up. A change of the node tells the client that made it.
func (d *Driver) keep(ctx context.Context, s *session, c driver.Claim, f finding) (driver.Status, error) {
	if !f.alive() || f.seat.peer || c.Token != 0 && c.Token != f.token {
		return driver.Status{}, driver.ErrGone
	}
	at := d.keys.queue(c.Name) + "/" + f.seat.node
	from := leased.Now()
	node, err := s.getIfThere(ctx, at)
	switch {
	case err != nil:
		return driver.Status{}, err
	case node.stat == nil:
		return driver.Status{}, driver.ErrGone
	}
	r := f.record
	r.Format, r.TTL, r.Kept = d.format, driver.Milliseconds(c.TTL), r.Kept+1
	_, _, err = s.multi(ctx, &zk.SetDataRequest{Path: at, Data: node.data, Version: node.stat.Version},
		&zk.SetDataRequest{Path: d.keys.note(c.Name, c.ID), Data: encode(r), Version: f.note.stat.Version})
	switch {
	case errors.Is(err, zk.ErrBadVersion):
		return d.adopt(ctx, c) // something happened meanwhile
	case isNoNode(err):
		return driver.Status{}, driver.ErrGone
	case err != nil:
		return driver.Status{}, err
	}
	d.guard(leased.IDOf(c), s, at, r.Kept, f.token, from.Add(c.TTL))
	st := f.judge(d.keys, c.Name)
	st.TTL, st.Revoked = c.TTL, st.Granted && string(node.data) == revokeWord
	return st, nil
}

// judge answers about a claim as it was found.
func (f finding) judge(keys keyspace, name string) driver.Status {
	at := slices.IndexFunc(f.seats, func(s seat) bool { return s.node == f.seat.node })
	v := keys.judge(name, f.seats[:at+1])
	return driver.Status{Token: f.token, Granted: v.Granted, Retry: v.Retry, Contended: at < len(f.seats)-1}
}

// An adoption is a claim of another client that this one renewed last, as far as it knows.
type adoption struct {
	s     *session
	node  string
	kept  int64 // what the note said then
	token uint64
	timer *time.Timer
}

// guard ends a claim of another client at some instant, unless somebody renews it until then.
func (d *Driver) guard(id leased.ID, s *session, node string, kept int64, token uint64, until leased.Instant) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if old := d.adopted[id]; old != nil {
		old.timer.Stop()
	}
	w := &adoption{s: s, node: node, kept: kept, token: token}
	w.timer = time.AfterFunc(until.Sub(leased.Now()), func() { d.running.Go(func() { d.expireAdopted(id, w) }) })
	d.adopted[id] = w
}

// expireAdopted ends a claim of another client that this one has renewed last. Should that fail, its own client
// does it.
func (d *Driver) expireAdopted(id leased.ID, w *adoption) {
	d.mu.Lock()
	if d.adopted[id] == w {
		delete(d.adopted, id)
	}
	d.mu.Unlock()
	ctx, cancel := context.WithTimeout(d.lifetime, w.s.time)
	defer cancel()
	at := d.keys.note(id.Name, id.ID)
	note, err := w.s.getIfThere(ctx, at)
	if err != nil || note.stat == nil {
		return
	}
	if r, err := d.decode(at, note.data); err == nil && r.End == alive && r.Kept == w.kept {
		d.finish(ctx, w.s, w.node, at, taken, w.token) // see above
	}
}

// keepAgain makes the claim this client's to end, after others have renewed it.
func (e *claim) keepAgain(ctx context.Context, ttl time.Duration) error {
	e.mu.Lock()
	disturbed := e.disturbed
	e.mu.Unlock()
	if !disturbed {
		return nil
	}
	note, err := e.s.getIfThere(ctx, e.note)
	if err != nil {
		return err
	}
	if note.stat == nil {
		return driver.ErrGone
	}
	r, err := e.d.decode(e.note, note.data)
	if err != nil {
		return err
	}
	if r.End == alive && r.Kept > e.keptNow() {
		r.Format, r.TTL, r.Kept = e.d.format, driver.Milliseconds(ttl), r.Kept+1
		_, err = call(ctx, e.s, func(c *zk.Conn) (*zk.Stat, error) {
			return c.Set(e.note, encode(r), note.stat.Version)
		})
		if err != nil {
			return err // also when somebody was faster: the caller asks again
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.record.Kept, e.disturbed = r.Kept, false
	return nil
}

func (e *claim) keptNow() int64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.record.Kept
}
