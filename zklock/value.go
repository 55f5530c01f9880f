package zklock

import (
	"context"
	"errors"
	"path"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/leased"
)

// A keptValue is what a lock keeps between its holders, as read.
type keptValue struct {
	leased.ValueRecord
	stat *zk.Stat // nil: there is no such node
}

// value returns what a holder has set last, as [driver.OpValue] says.
func (d *Driver) value(ctx context.Context, name string) (driver.Value, error) {
	kept, err := inquire(ctx, d, func(s *session) (keptValue, error) {
		if err := s.sync(ctx); err != nil {
			return keptValue{}, err
		}
		return d.keptValue(ctx, s, d.keys.value(name))
	})
	if err != nil || kept.Text == "" {
		return driver.Value{}, err
	}
	return kept.Value(), nil
}

// setValue sets it, as [driver.OpSetValue] says. The change asks that the claim's node is there and that the value is
// as it was read before. That a claim is granted needs no asking: it stays so for as long as its node is there.
func (d *Driver) setValue(ctx context.Context, c driver.Claim, v driver.Value) error {
	for {
		s, f, err := d.seek(ctx, c)
		switch {
		case err != nil:
			return err
		case !f.alive() || f.seat.peer || f.token != c.Token || !f.granted:
			return driver.ErrGone
		}
		at := d.keys.value(c.Name)
		kept, err := d.keptValue(ctx, s, at)
		if err != nil {
			return err
		}
		if write, err := v.Supersede(kept.Value()); !write {
			if err == nil && v.Text == "" { // the answer to the first was lost
				d.forgetLater(at, kept.stat.Version, c.TTL)
			}
			return err
		}
		stat, err := d.replaceValue(ctx, s, d.keys.queue(c.Name)+"/"+f.seat.node, at, kept, v)
		switch {
		case err != nil:
			return err
		case stat != nil && v.Text == "":
			d.forgetLater(at, stat.Version, c.TTL)
			return nil
		case stat != nil:
			return nil
		}
	}
}

// replaceValue puts a value in the place of the one that was read. The stat is nil if something has changed meanwhile.
func (d *Driver) replaceValue(
	ctx context.Context, s *session, claim, at string, kept keptValue, v driver.Value,
) (*zk.Stat, error) {
	data := leased.Encode(leased.NewValueRecord(d.format, v))
	var change any = &zk.CreateRequest{Path: at, Data: data, Acl: d.acl}
	if kept.stat != nil {
		change = &zk.SetDataRequest{Path: at, Data: data, Version: kept.stat.Version}
	}
	results, failed, err := s.multi(ctx, &zk.CheckVersionRequest{Path: claim, Version: -1}, change)
	switch {
	case err == nil && kept.stat == nil:
		return &zk.Stat{}, nil // it has version zero
	case err == nil:
		return results[1].Stat, nil
	case failed == 0 && isNoNode(err):
		return nil, driver.ErrGone
	case failed == 1 && isNoNode(err):
		return nil, s.makeParent(ctx, path.Dir(at))
	case errors.Is(err, zk.ErrNodeExists), errors.Is(err, zk.ErrBadVersion):
		return nil, nil
	default:
		return nil, err
	}
}

func (d *Driver) keptValue(ctx context.Context, s *session, at string) (kept keptValue, err error) {
	node, err := s.getIfThere(ctx, at)
	if err != nil || node.stat == nil {
		return kept, err
	}
	kept.stat = node.stat
	if err := leased.Decode(placeOf(at), node.data, &kept.ValueRecord); err != nil {
		return kept, err
	}
	return kept, d.checkFormat(at, kept.Format)
}

// forgetLater deletes the node of a value that was removed when no copy of an earlier request can come any more, if it
// is still as it was. Where this process ends before that, Reap does.
func (d *Driver) forgetLater(at string, version int32, ttl time.Duration) {
	time.AfterFunc(ttl+leased.TombstoneGrace, func() {
		d.running.Go(func() {
			ctx, cancel := context.WithTimeout(d.lifetime, startTimeout)
			defer cancel()
			inquire(ctx, d, func(s *session) (bool, error) { return s.deleteAsItWas(ctx, at, version) })
			// What is left is for Reap.
		})
	})
}

// reapValue deletes the node of a value that was removed so long ago.
func (d *Driver) reapValue(ctx context.Context, s *session, at string, age time.Duration) (bool, error) {
	kept, err := d.keptValue(ctx, s, at)
	if err != nil || kept.stat == nil || kept.Text != "" || time.Since(time.UnixMilli(kept.stat.Mtime)) < age {
		return false, err
	}
	return s.deleteAsItWas(ctx, at, kept.stat.Version)
}
