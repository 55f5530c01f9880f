package zklock

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/leased"
)

// queue returns the live claims on a lock, as [driver.OpQueue] says. For a claim of another library, the data of its
// node is the Owner, and Left is not known.
func (d *Driver) queue(ctx context.Context, name string, _ int) ([]driver.Entry, error) {
	return inquire(ctx, d, func(s *session) ([]driver.Entry, error) {
		clock, err := s.heartbeat(ctx) // what follows is at least as new
		if err != nil {
			return nil, err
		}
		seats, err := s.seats(ctx, d.keys.queue(name))
		if err != nil {
			return nil, err
		}
		if err := d.checkFormats(seats); err != nil {
			return nil, err
		}
		r := reading{d: d, s: s, name: name, clock: clock, beats: make(map[int64]*beat)}
		return r.entries(ctx, seats)
	})
}

// A reading collects what the server has of the claims on one lock.
type reading struct {
	d     *Driver
	s     *session
	name  string
	clock time.Time // the leader's

	mu    sync.Mutex
	beats map[int64]*beat // by session
}

// A beat is when a session was last known to be alive.
type beat struct {
	once sync.Once
	at   time.Time
	err  error
}

// entries reads each claim. Those that end meanwhile are left out.
func (r *reading) entries(ctx context.Context, seats []seat) ([]driver.Entry, error) {
	list, errs := make([]*driver.Entry, len(seats)), make([]error, len(seats))
	forEach(len(seats), func(i int) {
		if seats[i].peer {
			list[i], errs[i] = r.peer(ctx, seats[i])
		} else {
			list[i], errs[i] = r.entry(ctx, seats[i])
		}
	})
	var there []driver.Entry
	bounds := leased.NoBounds()
	for i, e := range list {
		bounds = bounds.Add(seats[i].seat())
		switch {
		case errs[i] != nil:
			return nil, errs[i]
		case e != nil:
			e.Granted = bounds.Fit()
			there = append(there, *e)
		}
	}
	return there, nil
}

func (r *reading) entry(ctx context.Context, s seat) (*driver.Entry, error) {
	at := r.d.keys.note(r.name, s.id)
	note, err := r.s.getIfThere(ctx, at)
	if err != nil || note.stat == nil {
		return nil, err
	}
	rec, err := r.d.decode(at, note.data)
	if err != nil || rec.End != alive {
		return nil, err
	}
	seen, err := r.lastBeat(ctx, note.stat.EphemeralOwner)
	if err != nil {
		return nil, err
	}
	if changed := time.UnixMilli(note.stat.Mtime); changed.After(seen) {
		seen = changed
	}
	e := r.show(s, note)
	e.Owner, e.Value = string(rec.Owner), string(rec.Value)
	e.TTL = time.Duration(rec.TTL) * time.Millisecond
	e.Left = max(min(e.TTL-r.clock.Sub(seen), e.TTL), 1)
	return e, nil
}

func (r *reading) peer(ctx context.Context, s seat) (*driver.Entry, error) {
	node, err := r.s.getIfThere(ctx, r.d.keys.queue(r.name)+"/"+s.node)
	if err != nil || node.stat == nil {
		return nil, err
	}
	e := r.show(s, node)
	e.Owner, e.TTL, e.Left = strings.ToValidUTF8(string(node.data), "?"), peerRetry, peerRetry
	return e, nil
}

func (r *reading) show(s seat, from content) *driver.Entry {
	return &driver.Entry{
		Claim: driver.Claim{
			Name: r.name, ID: s.id, Weight: s.weight, Limit: s.limit, Queue: true, Token: uint64(from.stat.Czxid),
		},
		Since: time.UnixMilli(from.stat.Ctime),
	}
}

// lastBeat is when a session has last noted that it is alive; long ago when it never did.
func (r *reading) lastBeat(ctx context.Context, session int64) (time.Time, error) {
	r.mu.Lock()
	b := r.beats[session]
	if b == nil {
		b = new(beat)
		r.beats[session] = b
	}
	r.mu.Unlock()
	b.once.Do(func() {
		var node content
		if node, b.err = r.s.getIfThere(ctx, r.d.keys.beat(session)); node.stat != nil {
			b.at = time.UnixMilli(node.stat.Mtime)
		}
	})
	return b.at, b.err
}
