package zklock

import (
	"context"
	"errors"
	"math/rand/v2"
	"path"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/leased"
)

// A deeds record is what was done to the claims on a lock, in a node of its own: the notes of [driver.Noter]. They
// cannot be claims, which end with the session of who makes them.
type deeds struct {
	Format int    `json:"v"`
	Deeds  []deed `json:"deeds"` // oldest first
}

type deed struct {
	ID    string      `json:"id"`
	Kind  string      `json:"kind"`
	Claim string      `json:"claim"`
	By    leased.Text `json:"by"`
	At    int64       `json:"at"` // milliseconds since 1970, by the clock of who did it
}

func (d deed) note() driver.Note {
	return driver.Note{ID: d.ID, Kind: d.Kind, Claim: d.Claim, By: string(d.By), At: time.UnixMilli(d.At)}
}

func deedOf(n driver.Note) deed {
	return deed{ID: n.ID, Kind: n.Kind, Claim: n.Claim, By: leased.Text(n.By), At: n.At.UnixMilli()}
}

// AddNote leaves a note, as [driver.Noter] says.
func (d *Driver) AddNote(ctx context.Context, name string, n driver.Note) error {
	n.At = time.Now()
	return d.changeNotes(ctx, name, func(kept []driver.Note) []driver.Note {
		add, drop := n.Join(kept)
		if !add {
			return kept
		}
		return append(slices.Clone(kept[drop:]), n)
	})
}

// RemoveNote takes a note back, as [driver.Noter] says.
func (d *Driver) RemoveNote(ctx context.Context, name, id string) error {
	return d.changeNotes(ctx, name, func(kept []driver.Note) []driver.Note {
		return slices.DeleteFunc(slices.Clone(kept), func(n driver.Note) bool { return n.ID == id })
	})
}

// Notes returns the notes on a lock, as [driver.Noter] says.
func (d *Driver) Notes(ctx context.Context, name string) ([]driver.Note, error) {
	s, err := d.askingFor(ctx, name)
	if err != nil {
		return nil, err
	}
	notes, _, err := d.keptNotes(ctx, s, d.keys.deeds(name))
	return notes, err
}

// askingFor returns a session that reads what was there before.
func (d *Driver) askingFor(ctx context.Context, name string) (*session, error) {
	if err := d.open(ctx, name); err != nil {
		return nil, err
	}
	return inquire(ctx, d, func(s *session) (*session, error) { return s, s.sync(ctx) })
}

// keptNotes reads the notes that are not too old, and the node that has them; its stat is nil if there is none.
func (d *Driver) keptNotes(ctx context.Context, s *session, at string) (notes []driver.Note, node content, err error) {
	node, err = s.getIfThere(ctx, at)
	if err != nil || node.stat == nil {
		return nil, node, err
	}
	var r deeds
	if err := leased.Decode(placeOf(at), node.data, &r); err != nil {
		return nil, node, err
	}
	for _, one := range r.Deeds {
		if n := one.note(); time.Since(n.At) < driver.NoteAge {
			notes = append(notes, n)
		}
	}
	return notes, node, d.checkFormat(at, r.Format)
}

// changeNotes puts what change makes of the notes on a lock in their place, again until nobody was quicker.
func (d *Driver) changeNotes(ctx context.Context, name string, change func([]driver.Note) []driver.Note) error {
	s, err := d.askingFor(ctx, name)
	if err != nil {
		return err
	}
	for at := d.keys.deeds(name); ; {
		kept, node, err := d.keptNotes(ctx, s, at)
		if err != nil {
			return err
		}
		notes := change(kept)
		if slices.Equal(notes, kept) {
			return nil
		}
		if done, err := d.replaceNotes(ctx, s, at, node.stat, notes); done || err != nil {
			return err
		}
	}
}

// replaceNotes reports whether the node was still as it was read. One without notes is deleted.
func (d *Driver) replaceNotes(
	ctx context.Context, s *session, at string, read *zk.Stat, notes []driver.Note,
) (bool, error) {
	r := deeds{Format: d.format}
	for _, n := range notes {
		r.Deeds = append(r.Deeds, deedOf(n))
	}
	var change any
	switch {
	case read == nil:
		change = &zk.CreateRequest{Path: at, Data: leased.Encode(r), Acl: d.acl}
	case len(notes) == 0:
		change = &zk.DeleteRequest{Path: at, Version: read.Version}
	default:
		change = &zk.SetDataRequest{Path: at, Data: leased.Encode(r), Version: read.Version}
	}
	_, _, err := s.multi(ctx, change)
	switch {
	case err == nil && read == nil:
		d.sweepNotes(ctx, s)
		return true, nil
	case err == nil:
		return true, nil
	case isNoNode(err) && read == nil:
		return false, s.makeParent(ctx, path.Dir(at))
	case isNoNode(err), errors.Is(err, zk.ErrNodeExists), errors.Is(err, zk.ErrBadVersion):
		return false, nil
	default:
		return false, err
	}
}

// sweptForOne is how many nodes are looked at for each that is made. So there are not many more than hold notes.
const sweptForOne = 4

// sweepNotes deletes some of the nodes whose notes are all too old.
func (d *Driver) sweepNotes(ctx context.Context, s *session) {
	nodes, err := s.children(ctx, d.keys.root+deedsNode)
	if err != nil {
		return // the next one who makes a node sweeps, too
	}
	for range min(sweptForOne, len(nodes)) {
		node := nodes[rand.IntN(len(nodes))]
		_, _ = d.reapNotesIn(ctx, s, d.keys.root+deedsNode+"/"+node, 0)
	}
}

// reapNotesIn deletes a node whose notes are all too old, and which is older than this.
func (d *Driver) reapNotesIn(ctx context.Context, s *session, at string, age time.Duration) (bool, error) {
	notes, node, err := d.keptNotes(ctx, s, at)
	if err != nil || node.stat == nil || len(notes) > 0 || time.Since(time.UnixMilli(node.stat.Mtime)) < age {
		return false, err
	}
	return s.deleteAsItWas(ctx, at, node.stat.Version)
}
